"""The words of the sample documents that cannot be written by hand: PDF, scans, pictures, UTF-16.

Everything is invented. In the handbook and the log an empty line ends a paragraph, `# ` starts a heading and
`| ` a table row; in the scans and the sign every line is one typed line.
"""

HANDBOOK_FRONT = (
    """\
# Station Handbook

Kestrel Ridge Station

Edition 7, valid from 1 October 2024
""",
    """\
# About this handbook

This handbook is for the two observers on duty and for everybody who relieves them. It says what is done
every day, and what is done when something goes wrong. The manuals of the instruments go deeper; they
stand in the green shelf of the office.

Corrections are sent to the head of station, who collects them for the next edition. Handwritten changes
in the printed copy do not count.

# Contents

| Chapter | Page
| 1  The station | 1
| 2  Daily observations | 2
| 3  Snow profile | 3
| 4  Bulletin and road closures | 4
| 5  Power, heating and water | 5
| 6  Emergencies | 6
""",
)

HANDBOOK_CHAPTERS = (
    """\
# 1  The station

Kestrel Ridge Station stands at 2347 metres above the sea, on the crest between the Varn valley and the
basin of Lake Immel. It was built in 1987 in the shell of an old surveyors' hut and received its west
mast in 2005.

From 1 November to 30 April two observers live at the station. They are relieved every Sunday by the
morning run of the Hollin lift; in storm the relief waits until Monday. In summer the station runs
unattended and is looked after once a fortnight.

# 1.1  Rooms

The ground floor holds the office, the logger cabinet, the battery room and the store room. The kitchen
and four bunks are upstairs. The cellar can be reached from outside only, and its door must be dug free
after every snowfall.

# 1.2  Duties

The observer on duty answers for the measurements, the second observer for the house. They change places
on Thursday at noon.
""",
    """\
# 2  Daily observations

The morning observation begins at 06:40 and must be in the database by 07:15. The evening observation
begins at 16:30. Both are made even if every instrument works, because an instrument does not see a
cornice breaking off.

# 2.1  Order of the morning round

First read the manual snow stake, from the planks and from a distance of three metres, so that footprints
do not disturb the snow around it. Then weigh the new snow on the white board and wipe the board clean.
At last note the clouds, the visibility and every avalanche that has run since the evening.

# 2.2  Estimating visibility

Visibility is judged by fixed marks. If the mast of the Hollin lift can be seen, it is at least 1.5
kilometres; if the church tower of Lower Varn can be seen, it is at least 9 kilometres.

| Mark | Direction | Distance
| Helicopter pad | south | 120 metres
| Mast of the Hollin lift | south-east | 1.5 kilometres
| Church tower of Lower Varn | west | 9 kilometres
| Summit of Mount Sorrel | north | 31 kilometres
""",
    """\
# 3  Snow profile

A full snow profile is dug every Friday, on the study slope 200 metres north-east of the hut. Both
observers go together, with transceiver, probe and shovel, and report by radio when they leave and
return.

# 3.1  The pit

The pit is dug to the ground, or to a depth of two metres where the snow is deeper. The wall that is
studied faces north, so that the sun does not warm it. Temperatures are read every ten centimetres,
beginning at the surface.

# 3.2  Stability tests

Two compression tests and one extended column test are made at the same wall. If the results of two tests
differ by more than ten taps, a third one is made a metre further along. The pit is filled in afterwards.
""",
    """\
# 4  Bulletin and road closures

The bulletin is written in the valley office, but the observer on duty proposes the danger level by
15:30. The forecaster may change the proposal and tells the observer why.

# 4.1  Closing the Varn Pass road

The road is closed by the road patrol and not by the station. From danger level 4 on, the observer on
duty rings the patrol leader every three hours, day and night, until the level has fallen again.

# 4.2  After an avalanche on the road

Write down the time, take photographs from the south window, and do not go out to measure before the
patrol has called off the search.
""",
    """\
# 5  Power, heating and water

Solar panels and a diesel generator charge a battery of 24 volts. The generator starts by itself when the
battery falls below 23.1 volts and stops at 27.6 volts. The battery alone carries the station for
nineteen hours.

# 5.1  Fuel

The tank holds 1800 litres of winter diesel. Heating takes most of it, about 22 litres on a cold day.

# 5.2  Water

Water is melted from snow in the steel tank behind the kitchen. Snow for the tank is taken only from the
marked square east of the hut, well away from the exhaust of the generator. Boil it for three minutes
before drinking.
""",
    """\
# 6  Emergencies

In every emergency the first call goes to the mountain rescue, on radio channel 3, and the second to the
valley office.

# 6.1  Fire

Leave the hut by the nearest door, close it behind you and meet beside the helicopter pad. The survival
box at the pad holds a tent, two sleeping bags, food for three days and a radio. Powder extinguishers
hang in the office, in the kitchen and at the generator; only the red one from the battery room may be
used on the batteries.

# 6.2  Carbon monoxide

When the alarm sounds, open both doors, switch off the heating with the yellow switch and go outside. The
usual cause is an exhaust pipe that has been buried by drifting snow.
""",
)

INSPECTION_SCAN = (
    """\
HAVERSTOCK & PLINTH
Ropes and Masts, Inspection Office

INSPECTION REPORT  No. 23-0914

Object:      West mast, Kestrel Ridge Station
Inspected:   14 September 2023
Inspector:   R. Plinth
Weather:     dry, 6 degrees, light wind

1. SCOPE

The mast is a lattice tower of 18 metres, held by three
guy wires of 12 millimetres. All bolts up to the upper
platform were checked by hand. The lightning rod was
measured against the earth of the building.

2. SUMMARY

The mast is safe to use. Two faults were repaired on the
day of the inspection, and one has to be repaired before
the first of November. The next inspection is due in
September 2025.
""",
    """\
Report No. 23-0914, page 2

3. FINDINGS

3.1 Guy wires
The north guy wire had lost a third of its tension and
was tightened to 8.5 kilonewtons. The other two wires
were within the limits.

3.2 Ladder
The seventh rung from the top is bent. It carries the
load but must be replaced before winter.

3.3 Lightning rod
The earth resistance was 4 ohms, which is good for rock.
A loose clamp at the foot of the mast was tightened.

3.4 Paint
Rust has started under the paint of the lower platform.
Brush it off and paint it again in the summer of 2024.

Signed: R. Plinth
""",
)

FUEL_NOTES = (
    """\
DELIVERY NOTE 1 of 2
Immel Air Freight

Date: 3 October 2024
To: Kestrel Ridge Station

Two flights brought 1150 litres of winter
diesel to the helicopter pad.
The tank was full at 11:20.
""",
    """\
DELIVERY NOTE 2 of 2
Immel Air Freight

Date: 4 October 2024
To: Kestrel Ridge Station

One flight brought six gas bottles and 340
kilograms of food in four nets.
One net came back with empty drums.
""",
)

SHELTER_SIGN = """\
EMERGENCY SHELTER

This shelter is never locked.
It has room for eight people.
Blankets are under the bench.
Close the shutters when you leave.

Mountain rescue: radio channel 3
"""

LAKE_GAUGE_LOG = """\
Field log: water gauge at Lake Immel

Summer 2024, kept by Daniel Amsick

12 June 2024

The ice left the lake on 9 June, the latest date since the log was begun. The gauge board was leaning by
a hand's breadth and was set upright again. Water level: 1.84 m. Water temperature: 3.1 °C.

4 July 2024

The pressure probe read 6 cm more than the board. After the vent tube had been blown free, both agreed. A
pair of wagtails is nesting in the instrument box, so the lid stays closed until they have flown.

1 August 2024

Level 1.37 m, temperature 11.8 °C. The nest is empty. I found the float cable chafed through at the
second pulley and knotted it for the time being; a new one of 9 m is needed.

29 August 2024

The new float cable is in. Somebody has carved "Ω" into the gauge board at 1.20 m — it is not a survey
mark.

26 September 2024

First thin ice along the north shore. The probe was taken out for the winter and lies in a bucket of lake
water, because its membrane must not dry out.
"""

VISITOR_REGISTER = """\
# Visitor register 2019

Between June and October 2019 the station had 412 visitors on five open days.
"""

TELEMETRY_HEADING = """\
# Telemetry export

Battery voltage and signal strength, 1 to 31 March 2024, one line per hour.
"""
