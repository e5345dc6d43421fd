import pytest
from starlette.datastructures import Headers

from api.access import check_local, check_token, digest_of, is_loopback
from api.problems import Problem


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "localhost", "LOCALHOST", "::1", "[::1]"])
def test_this_machine(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize(
    "host", ["0.0.0.0", "::", "10.0.0.1", "example.org", "127.0.0.1.example.org", "localhost.x", ""]
)
def test_other_machines(host: str) -> None:
    assert not is_loopback(host)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:8420", "localhost:1", "[::1]", "[::1]:8420"])
def test_a_loopback_host_may_call_without_a_token(host: str) -> None:
    check_local(Headers({"host": host}), "GET")
    check_local(Headers({"host": host, "origin": f"http://{host}"}), "POST")


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8420", "127.0.0.1.evil.example", "", "[::2]:8420"])
def test_a_name_bound_to_our_address_is_refused(host: str) -> None:
    with pytest.raises(Problem) as refused:
        check_local(Headers({"host": host}), "GET")
    assert refused.value.code == "host_not_allowed"


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:3000"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_another_site_may_not_write(headers: dict[str, str]) -> None:
    for method in ("POST", "DELETE"):
        with pytest.raises(Problem) as refused:
            check_local(Headers({"host": "127.0.0.1:8420"} | headers), method)
        assert refused.value.code == "cross_site"
    check_local(Headers({"host": "127.0.0.1:8420"} | headers), "GET")


@pytest.mark.parametrize(
    "headers", [{"authorization": "Bearer right"}, {"authorization": "bearer  right "}, {"x-api-key": "right"}]
)
def test_a_known_token_opens(headers: dict[str, str]) -> None:
    check_token(Headers(headers), [digest_of("other"), digest_of("right")])


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"authorization": "Bearer wrong"},
        {"authorization": "right"},
        {"authorization": "Basic right"},
        {"authorization": "Bearer "},
        {"x-api-key": ""},
        {"x-api-key": digest_of("right")},
        {"x-api-key": "rïght"},
    ],
)
def test_anything_else_does_not(headers: dict[str, str]) -> None:
    with pytest.raises(Problem) as refused:
        check_token(Headers(headers), [digest_of("right")])
    assert refused.value.status_code == 401
