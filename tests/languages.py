"""Sentences in the languages and scripts whose text must come out exactly. Escapes stand where a sign does not show."""

from dataclasses import dataclass

ZWNJ, SOFT_HYPHEN = "\u200c", "\u00ad"
ENGLAND = "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"


@dataclass(frozen=True)
class Language:
    """`title` is a short line without punctuation; `charset` is the usual encoding of its files before Unicode."""

    name: str
    title: str
    sentences: tuple[str, ...]
    charset: str = ""
    right_to_left: bool = False

    @property
    def legacy(self) -> tuple[str, ...]:
        """The sentences that the older encoding has all characters of."""
        return tuple(sentence for sentence in self.sentences if _fits(sentence, self.charset))


def _fits(sentence: str, charset: str) -> bool:
    try:
        return sentence.encode(charset).decode(charset) == sentence
    except UnicodeEncodeError:
        return False


ARABIC = Language(
    "arabic",
    "عقد الإيجار",
    (
        "يدفع المستأجر الإيجار في اليوم الثالث من كل شهر.",
        "العقد رقم ٤٨٢١٣ ساري المفعول حتى ٣١ مارس ٢٠٢٧.",
        "أرسل الملف contract.pdf إلى Anna Keller قبل الموعد.",
        "يصلح المالك (Ben) التدفئة خلال 15 يوما، أي قبل 12:30، بعد إشعار مكتوب.",
        "كَتَبَ الطَّالِبُ رِسَالَةً إِلَى المُؤَجِّرِ.",
    ),
    "cp1256",
    True,
)
PERSIAN = Language(
    "persian",
    "قرارداد اجاره",
    (
        f"مستأجر اجاره را روز سوم هر ماه می{ZWNJ}پردازد.",
        "قرارداد شمارهٔ ۴۸۲۱۳ تا ۳۱ خرداد ۱۴۰۵ معتبر است.",
        "پروندهٔ lease.pdf را برای Anna Keller بفرستید.",
        f"خانه{ZWNJ}های قدیمی گچ و چوب و ژرفا دارند و نمی{ZWNJ}سوزند.",
    ),
    right_to_left=True,
)
HEBREW = Language(
    "hebrew",
    "חוזה שכירות",
    (
        "השוכר משלם את שכר הדירה ביום השלישי בכל חודש.",
        "חוזה מספר 48213 (פלוס 1,250.50 ש״ח) בתוקף עד 31.3.2027 בלבד.",
        "שלחו את הקובץ lease.pdf אל Anna Keller עד יום שני.",
        "המשכיר מתקן את החימום בתוך 15 ימים לאחר הודעה בכתב.",
        "בְּרֵאשִׁית הַדַּיָּר קִבֵּל מַפְתֵּחַ חָדָשׁ.",
    ),
    "cp1255",
    True,
)
CHINESE = Language(
    "chinese",
    "租赁合同",
    (
        "承租人应于每月第三个工作日支付租金。",
        "合同编号48213，有效期至2027年3月31日。",
        "请将文件 lease.pdf 发送给 Anna Keller。",
        "出租人应在收到书面通知后15天内修理暖气。",
        "𠮷祥里𡈽路七号的房屋由出租人维修。",
    ),
    "gb18030",
)
JAPANESE = Language(
    "japanese",
    "賃貸借契約",
    (
        "借主は毎月第三営業日に家賃を支払うものとする。",
        "契約番号は48213（４８２１３）、期限は2027年3月31日です。",
        "ﾃﾞﾝｷ料金は半角ｶﾀｶﾅでも書かれ、Ｆｉｌｅ名は全角です。",
        "ファイル lease.pdf を Anna Keller に送ってください。",
        "貸主は書面の通知から15日以内に暖房を修理する。",
        "辻\U000e0100さんの「か\u3099くふ\u3099ち」は𠮷田さんの隣です。",
    ),
    "shift_jis",
)
KOREAN = Language(
    "korean",
    "임대차 계약",
    (
        "임차인은 매월 세 번째 영업일에 월세를 지급한다.",
        "계약 번호 48213은 2027년 3월 31일까지 유효하다.",
        "파일 lease.pdf를 Anna Keller에게 보내십시오.",
        "임대인은 서면 통지 후 15일 안에 난방을 수리한다.",
        # Syllables put together from conjoining letters, as some systems write file names.
        "\u1112\u1161\u11ab\u1100\u1173\u11af 문서는 그대로 남는다.",
    ),
    "euc_kr",
)
GERMAN = Language(
    "german",
    "Der Mietvertrag",
    (
        "Die Mieterin zahlt die Miete am dritten Werktag; größere Schäden meldet sie.",
        "Straße, Maß und Fußweg: Ärger über Öl und Übermut, „so“ – sagt’s der Vermieter.",
        "Der E-Mail-Verkehr mit Anna Keller über lease.pdf gilt bis 31. März 2027.",
        "Das große ẞ steht in STRAẞE, das U\u0308 in U\u0308bung ist zerlegt.",
        f"Das Wärme{SOFT_HYPHEN}dämm{SOFT_HYPHEN}verbund{SOFT_HYPHEN}system ist in Ordnung.",
    ),
    "cp1252",
)
EMOJI = Language(
    "emoji",
    "Lease 🏠 signed",
    (
        "The tenant 👍🏽 and the chemist 👩🏿\u200d🔬 sign the lease 📝.",
        f"The family 👨\u200d👩\u200d👧\u200d👦 moves in under 🇩🇪🇫🇷 and {ENGLAND} today.",
        "Press 1\ufe0f\u20e3 or #\ufe0f\u20e3 for \u2764\ufe0f, not for \u2764\ufe0e alone.",
        "Beyond the plane: 𝒜 and 𐍈 and 🀄 and 🫠 hold hands 🧑🏻\u200d🤝\u200d🧑🏿 here.",
    ),
)
LANGUAGES = (ARABIC, PERSIAN, HEBREW, CHINESE, JAPANESE, KOREAN, GERMAN, EMOJI)
