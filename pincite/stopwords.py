"""Words that say nothing about what a text is about, by language, as `pincite.lexemes` folds them."""

from pincite.folding import bare, fold

_ENGLISH = """
a about above actually after again against ain all almost already also although always am an and any anyone anything
are aren as at be because been before being below between bit both but by can could couldn d did didn do does doesn
doing don down during each else even ever few for from further get gets getting going got had hadn has hasn have haven
having he hello her here hers herself hi him himself his how however i if in instead into is isn it its itself just
kind know let like ll look looking looks lot m many may maybe me might more most much must my myself need needs never
no nor not of off ok okay on once only or other our ours ourselves out over own perhaps please quite rather re really
s same say says see seem seems shall she should shouldn since so some someone something sort still such t tell than
thanks that the their theirs them themselves then there these they thing things think this those though through to
told too under until up upon us ve very want wants was wasn way we were weren what when where whether which while who
whom whose why will with won would wouldn yet you your yours yourself yourselves
"""

_GERMAN = """
aber alle allem allen aller alles als also am an ander andere anderem anderen anderer anderes auch auf aus bei beim bin
bis bist da dabei dadurch dafur dagegen damit dann daran darauf daraus darf darin daruber darum das dass davon dazu
dein deine deinem deinen deiner dem den denn denen der deren des dessen die dies diese diesem diesen dieser dieses doch
dort du durch ein eine einem einen einer eines er es etwas euch euer eure fur gegen hab habe haben hat hatte hatten
hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer ihres im in indem ins ist ja jede jedem jeden jeder jedes
jene jener jenes jetzt kann kannst kein keine keinem keinen keiner konnen konnte man manche mein meine meinem meinen
meiner mich mir mit muss mussen musste nach nicht nichts noch nun nur ob oder ohne sehr sein seine seinem seinen seiner
seit sich sie sind so solche soll sollen sollte sondern sonst uber um und uns unser unsere unter viel vom von vor war
waren warst was weg weil welche welchem welchen welcher welches wenn werde werden wie wieder will wir wird wirst wo
wollen wollte wurde wurden zu zum zur zwar zwischen
wer wem wen wessen wann wohin woher warum wieso weshalb wieviel gibt
"""

_FRENCH = """
a ai aie ainsi alors apres as au aucun aucune aussi autre autres aux avait avant avec avez avoir avons c car ce cela ces
cet cette ceux chaque comme comment d dans de deja depuis des dois doit donc dont du elle elles en encore entre est et
etaient etait etes etre eu fait faut il ils j je l la le les leur leurs lorsque lui m ma mais me meme mes moi mon n ne
ni nos notre nous on ont ou par parce pas peu peut peuvent plus pour pourquoi qu quand que quel quelle quelles quels qui
quoi s sa sans se sera ses si son sont sous suis sur t ta te tes toi ton tous tout toute toutes tres tu un une vos votre
vous y
combien
"""

_SPANISH = """
a al algo algun alguna algunas algunos ante antes asi aun aunque cada como con contra cual cuales cuando cuanto de debe
del desde donde dos e el ella ellas ellos en entre era eran es esa esas ese eso esos esta estaba estan estas este esto
estos fue fueron ha habia han hasta hay la las le les lo los mas me mi mientras muy nada ni no nos nosotros o os otra
otras otro otros para pero por porque pues puede pueden que quien quienes se sea segun ser si sido sin sobre son su sus
tambien tan tanto te tiene tienen toda todas todo todos tu tus un una unas uno unos y ya yo
cuantos cuanta cuantas
"""

_ITALIAN = """
a ad agli ai al alla alle allo anche ancora avere c che chi ci cio come con contro cosa cui d da dagli dai dal dalla
dalle dallo de degli dei del dell della delle dello deve di dopo dove e ed era erano essere fra gli ha hanno i il in io
l la le lei li lo loro lui m ma mi mia mio ne negli nei nel nell nella nelle nello noi non nostra nostro o ogni per
perche piu poi puo quale quali quando quanto quella quelle quelli quello questa queste questi questo qui se sei senza si
sia sono sta stato su sua sue sugli sui sul sulla sulle sullo suo tra tu tutta tutte tutti tutto un una uno v vi voi
quanti quanta quante
"""

_PORTUGUESE = """
a ainda algum alguma antes ao aos apos as assim ate cada com como contra da das de deve dela dele depois do dos e ela
elas ele eles em entre era eram essa essas esse esses esta estao estas estava este estes eu foi foram ha isso isto ja
lhe mais mas me mesmo meu minha muito na nao nas nem no nos nossa nosso num numa o onde os ou para pela pelas pelo pelos
pode podem por porque qual quais quando que quem se sem ser seu seus sob sobre sua suas tambem tem tinha toda todas todo
todos tu um uma umas uns voce
quanto quantos quanta quantas
"""

_DUTCH = """
aan al alle als altijd andere ben bij daar dan dat de der deze die dit doch doen door dus een en er ge geen had heb
hebben heeft het hem hier hij hoe hun iets ik in is ja je kan kon kunnen maar me meer men met mij mijn moet na naar niet
niets nog nu of om omdat ons onze ook op over reeds te tegen toch toen tot u uit uw van veel voor waar waarom want was
wat we wel welke werd wezen wie wij wil worden wordt zal ze zei zelf zich zij zijn zo zonder zou
welk wanneer hoeveel
"""

_SWEDISH = """
alla allt att av blev bli blir da dar de dem den denna deras dess dessa det detta dig din ditt du efter ej eller en er
ett fran for ha hade han har henne hennes hon honom hur i icke inte jag ju kan kunde man med mellan men mig min mot
mycket nar ni nu och om oss pa sa samma sedan sig sin sitta ska skulle som till under upp ut utan vad var vara varfor
vart vem vi vid vilka vilken vilket
"""

_RUSSIAN = """
а без более бы был была были было быть в вам вас весь во вот все всего всех вы где да даже для до его ее если есть еще
же за здесь и из или им их к как какая какие какой когда кто ли либо мне может можно мы на надо наш не него нее нет ни
них но ну о об однако он она они оно от очень по под при с со так также такой там те тем то того тоже той только том ты
у уже хотя чего чей чем что чтобы чье эта эти это этого этой этом этот я
почему сколько
"""

_TURKISH = """
ama ancak bazi belki ben benim beri bile bir biraz biz bu bunlar bunu bunun cok cunku da daha de defa degil diye dolayi
en fakat gibi hangi hem her hic icin ile ise iste kadar kez ki kim kimi mi mu nasil ne neden nerede o olan olarak oldu
olur olmak ona onlar onu onun sadece sen sey siz su tum uzere var ve veya ya yani yok
kac
"""

_ARABIC = """
الي ان او اي اين بعد بعض بل بين تلك ثم حتي حيث ذلك عن عند علي غير في قبل قد كان كانت كل كم كما كيف لا لكن لم لماذا لن
لو ليس ما ماذا مثل مع من منذ متي نحن هذا هذه هل هم هنا هناك هو هي هولاء وان وقد ولا وهو وهي يا الذي التي الذين
"""

_HINDI = """
अपना अपनी अपने और इन इस इसके इसी उन उस उसके एक ऐसे कब कर करना करने कहां का कि किया किस की कुछ के केवल को कोई कौन क्या क्यों गया जब
जहां जा जिस जैसे जो तक तब तो था थी थे दिया द्वारा नहीं ने पर फिर बहुत भी में मैं यदि यह यहां या ये रहा रहे लिए वह वहां वे सकता सब से हम ही
हुआ हूं है हैं हो होता होती होते
"""

_WORDS = {
    "ar": _ARABIC,
    "de": _GERMAN,
    "en": _ENGLISH,
    "es": _SPANISH,
    "fr": _FRENCH,
    "hi": _HINDI,
    "it": _ITALIAN,
    "nl": _DUTCH,
    "pt": _PORTUGUESE,
    "ru": _RUSSIAN,
    "sv": _SWEDISH,
    "tr": _TURKISH,
}

# Folded here too, so that a list may be written as its language is.
STOP_WORDS: dict[str, frozenset[str]] = {
    code: frozenset(bare(word) for word in fold(words).split()) for code, words in _WORDS.items()
}
