"""What finds what, through SQL: every passage of the table is indexed once, then each query runs as a search does."""

from collections.abc import Iterator

import pytest

from api.retrieval.lexical import search_lexical
from db.connect import Database
from db.search import Leg, chunk_details
from db.stamps import active_stamp
from tests.fixtures.indexed import Indexed, index

# (language, passage, queries that must find it first, queries that must not find it)
GOLDEN: list[tuple[str, str, list[str], list[str]]] = [
    # Identifiers: whole, joined, in parts, in any case; a sign is never an operator.
    ("en", "Code ERR-4012 was shown.", ["ERR-4012", "err4012", "Err-4012?", "ERR4012"], ["4013", "-4021"]),
    ("en", "The log has E_CONNREFUSED.", ["E_CONNREFUSED", "econnrefused", "connrefused", "e_connrefused"], ["refuse"]),
    (
        "en",
        "Model DS-7604NI-E1/4P.",
        ["DS-7604NI-E1/4P", "ds7604ni", "DS-7604NI", "7604", "7604ni"],
        ["7608", "7605"],
    ),
    ("en", "Release v1.2.3 is out.", ["v1.2.3", "1.2.3", "V1.2.3", "v123"], ["v2.1.3", "1.2"]),
    ("en", "Pinned to 7.8.9-rc1 today.", ["7.8.9-rc1", "7.8.9"], ["7.8.8"]),
    ("en", "See foo.png there.", ["foo.png", "FOO.PNG", "foo", "foopng"], ["bar.gif"]),
    ("en", "Host 10.0.0.7 answers.", ["10.0.0.7", "http://10.0.0.7/"], ["192.168.0.7"]),
    ("en", "Signed on 2024-01-31.", ["2024-01-31", "20240131"], ["2023-02-28"]),
    ("en", "Written in C++ alone.", ["C++", "c++"], ["C", "C#"]),
    ("en", "Written in C# instead.", ["C#"], ["C", "C++"]),
    ("en", "By §12(3) a deposit is due.", ["§12(3)", "§ 12(3)", "12(3)"], ["§13(4)", "§14"]),
    ("en", "By Section 27(1)(a) it lapses.", ["27(1)(a)", "§27(1)(a)", "27"], ["28(1)(a)"]),
    ("de", "Nach § 558 BGB steigt die Miete.", ["§ 558", "§558", "558 BGB"], ["§ 559"]),
    ("en", "The reading was -4021 units.", ["-4021", "4021", "reading -4021"], ["4022"]),
    ("en", "Mail ops@example.org now.", ["ops@example.org", "example.org"], ["sample.net"]),
    ("en", "Edit /etc/hosts.conf first.", ["/etc/hosts.conf", "hosts.conf"], ["passwd"]),
    ("en", "Order KR\u20117611\u2011B soon.", ["KR-7611-B", "kr7611b", "KR\u20137611"], ["7612"]),
    ("en", "Over 12,500 rows were read.", ["12,500", "12500"], ["13,600"]),
    ("en", "It runs on x86_64 and IPv6.", ["x86_64", "ipv6", "IPV6"], ["x87"]),
    # English
    ("en", "Passwords are resetting nightly.", ["reset password", "How do I reset passwords?"], ["passport"]),
    ("en", "Pre-training helps a lot.", ["pretraining", "pre-training", "PRETRAINING"], ["pretext"]),
    ("en", "The landlord’s duties end.", ["landlord's duty", "landlords", "landlord’s"], ["landscape"]),
    ("en", "To be or not to be.", ["to be or not to be"], []),
    ("en", "A ﬁne ﬂoor of soft\u00adware.", ["fine floor", "software"], ["flour"]),
    ("en", "Ｆｕｌｌ ｗｉｄｔｈ Ｅ－９９３３.", ["full width", "E-9933", "e9933"], ["E-9934"]),
    ("en", "The naïve café façade.", ["naive", "CAFÉ", "facade cafe"], ["cave"]),
    ("en", "Ten µm and H₂O.", ["μm", "h2o"], ["mm"]),
    # German
    ("de", "Die Häuser in der Straße.", ["Haus", "HÄUSER", "Strasse", "STRASSE", "hauser"], ["Straus"]),
    ("de", "Herr Müller prüft Maße.", ["Mueller", "Müller", "muller prüfen", "MASSE"], ["Mulde"]),
    ("de", "Die Übergabe des Winterdienstes.", ["ubergabe", "Übergaben", "Winterdienst"], ["Sommerdienst"]),
    # French
    ("fr", "L’eau de l'école est gelée.", ["eau", "l'eau", "ecole", "ÉCOLE", "geler"], ["eaton"]),
    ("fr", "Les œuvres du cœur.", ["oeuvre", "cœur", "COEUR", "œuvre"], ["cour"]),
    ("fr", "Aujourd’hui on a mangé.", ["aujourd'hui", "manger", "mange"], ["jouer"]),
    # Spanish
    ("es", "Las canciones de la nación.", ["canción", "cancion", "naciones", "NACIÓN"], ["cansado"]),
    ("es", "El año pasado llovió en España.", ["ano", "años", "espana", "llover"], ["mañana"]),
    # Italian
    ("it", "Dell'acqua nelle città.", ["acqua", "citta", "l'acqua", "CITTÀ"], ["acquisto"]),
    # Portuguese
    ("pt", "As informações do coração.", ["informação", "informacoes", "coração", "coracao"], ["cor"]),
    # Dutch
    ("nl", "De huizen aan de IJssel.", ["huizen", "huis aan de IJssel", "IJSSEL"], ["huid"]),
    # Swedish
    ("sv", "Flickorna åker till sjön.", ["flicka", "sjön", "sjon", "aker"], ["pojke"]),
    # Polish (without stop words) and its barred l
    ("pl", "Książka leży w Łodzi.", ["książki", "ksiazka", "lodzi", "ŁODZI"], ["księżyc"]),
    # Turkish
    ("tr", "İstanbul'da ılık ışıklar.", ["istanbul", "İSTANBUL", "ILIK", "ilik", "ışık"], ["ankara"]),
    # Greek
    ("el", "Ο άνθρωπος και οι λόγοι.", ["ανθρωπος", "ΆΝΘΡΩΠΟΣ", "ανθρώπους", "λόγος", "λογος"], ["θάλασσα"]),
    # Russian
    ("ru", "Новый ёлочный шар.", ["новая", "НОВЫЙ", "елочный", "ёлочные шары"], ["старый"]),
    # Arabic: letter forms, vowel points, stretched letters
    ("ar", "ذهب إلى المدرسة الكبيرة", ["المدرسه", "مدرسة", "الى المدرسة", "المَدْرَسَة", "كبيرة"], ["جامعة"]),
    ("ar", "مستشفى أحمد", ["مستشفي", "احمد", "أحمد", "مستـــشفى"], ["محمود"]),
    ("ar", "رقم ٤٠٧١ للطلب", ["4071", "٤٠٧١", "طلب"], ["4072"]),
    # Persian: its own letters, digits, and parts of words with a zero-width non-joiner
    ("fa", "کتاب‌های علی می‌روند", ["كتاب", "کتابهای", "کتاب های", "علي", "میروند", "می‌روند"], ["دفتر"]),
    ("fa", "شماره ۵۵۱۲", ["5512", "۵۵۱۲", "شماره"], ["5513"]),
    # Hebrew
    ("he", "מָשִׁיחַ בן דוד", ["משיח", "דוד"], ["משה"]),
    # Hindi
    ("hi", "हिन्दी की किताबें", ["हिंदी", "हिन्दी", "किताब"], ["अंग्रेज़ी"]),
    ("hi", "सड़क पर १२३४ लोग", ["सड़क", "1234", "१२३४"], ["1235"]),
    # Thai, Chinese, Japanese, Korean: pairs of characters
    ("th", "การบำรุงรักษาปั๊มน้ำ", ["บำรุงรักษา", "ปั๊มน้ำ"], ["โรงเรียน"]),
    ("zh", "go 部署 deployment 指南", ["部署", "go 部署 deployment", "指南", "deployments"], ["部落"]),
    ("zh", "软件测试报告", ["测试", "软件", "报"], ["测量"]),
    ("ja", "日本語のテストです", ["テスト", "日本語", "ﾃｽﾄ"], ["テニス"]),
    ("ja", "サーバーの設定", ["サーバー", "設定", "ｻｰﾊﾞｰ"], ["サラダ"]),
    ("ko", "모델을 배포합니다", ["모델", "모델이", "배포"], ["학교"]),
    # Vietnamese
    ("vi", "Đường Nguyễn Huệ", ["duong", "nguyen", "NGUYỄN HUỆ"], ["huong"]),
]
NUMBER = sum(len(finding) + len(missing) for _, _, finding, missing in GOLDEN)


@pytest.fixture(scope="module")
def golden(module_database_url: str) -> Iterator[Database]:
    """Every passage of the table as a document of its own, in its language."""
    database = Database(module_database_url)
    for number, (language, passage, _, _) in enumerate(GOLDEN):
        index(database, Indexed([passage], path=f"{number}.txt", language=language))
    yield database
    database.close()


def found(database: Database, query: str) -> list[str]:
    """The passages that a search finds, best first."""
    with database.transaction() as connection:
        stamp = active_stamp(connection)
        assert stamp is not None
        leg = Leg(stamp.id, stamp.dimensions, None, len(GOLDEN))
        ids = [match.chunk_id for match in search_lexical(connection, query, leg).found]
        details = chunk_details(connection, ids)
    return [details[chunk_id].content for chunk_id in ids]


FINDS = [(query, passage) for _, passage, finding, _ in GOLDEN for query in finding]
MISSES = [(query, passage) for _, passage, _, missing in GOLDEN for query in missing]


@pytest.mark.parametrize(("query", "passage"), FINDS, ids=[query for query, _ in FINDS])
def test_the_passage_is_found_first(golden: Database, query: str, passage: str) -> None:
    assert found(golden, query)[:1] == [passage]


@pytest.mark.parametrize(("query", "passage"), MISSES, ids=[query for query, _ in MISSES])
def test_the_passage_is_not_found(golden: Database, query: str, passage: str) -> None:
    assert passage not in found(golden, query)


def test_the_table_is_large_and_of_many_languages() -> None:
    assert NUMBER >= 130
    assert len({language for language, *_ in GOLDEN}) >= 12
