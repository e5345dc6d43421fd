"""Words that say nothing about what a text is about, by language, as `pincite.lexemes` folds them."""

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
"""

STOP_WORDS: dict[str, frozenset[str]] = {
    "de": frozenset(_GERMAN.split()),
    "en": frozenset(_ENGLISH.split()),
}
