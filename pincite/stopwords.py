"""Words that say nothing about what a text is about, by language, as `pincite.lexemes` folds them."""

_ENGLISH = """
a about above after again against all also am an and any are as at be because been before being below between both
but by can could d did do does doing don down during each few for from further had has have having he her here hers
herself him himself his how i if in into is it its itself just let ll m me more most my myself no nor not of off on
once only or other our ours ourselves out over own re s same shall she should so some such t than that the their
theirs them themselves then there these they this those through to too under until up ve very was we were what when
where which while who whom whose why will with would you your yours yourself yourselves
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
