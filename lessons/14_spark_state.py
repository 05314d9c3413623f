# %% [markdown]
# # When is a stream a table?
#
# **You will** join a stream with a table and with another stream, keep state for each aircraft, and set a timer. If you go further: read that state as a table.
#
# *{minutes} minutes, and {further} more if you go further. You need lab 13: watermark, state, output mode, `watch_query`.*

# %%
from threebrokers import open_lab

lab = open_lab("14")

# %% [markdown]
# Three questions from earlier labs, to see what is still there:

# %%
lab.review()

# %% [markdown] covers="D207 D209 D196 D217" explains="table (of a stream), change log"
# ## Read to its end, a stream is a table
#
# A stream says what **happened**: 300 came in, 20 went out. A **table** says what **is**: 280 are there. Each makes the other. Take all changes from the start, in order, and you have the table. Write down each change of a table, and you have a stream, its **change log**. What happened never changes: who returns a parcel does not undo the order, but adds an event.
#
# A compacted topic (lab 09) is both: it keeps at least the last change of each key, so whoever reads it to the end has the table. Our tables and streams, again of 24 June 2013:
#
# | topic | holds | key |
# |---|---|---|
# | `state-departures` | 883 departures, in the order in which they left | aircraft (tail number) |
# | `state-arrivals` | their arrivals, in the order in which they landed | aircraft |
# | `state-planes`, compacted | the register of aircraft: all its changes, because nothing was cleaned up yet | aircraft |

# %%
from pyspark.sql import functions as F

from threebrokers.data import arrivals_topic, planes_topic, replay_topic
from threebrokers.spark import arrival_columns, flight_columns, session, with_left

spark = session()
trips, landings = replay_topic(lab, "state-departures"), arrivals_topic(lab, "state-arrivals")
planes = planes_topic(lab, "state-planes")

QUICK = {"kafka.fetch.max.wait.ms": 10}  # instead of 500: batches end sooner (lab 12)


def stream_of(topic, **options):
    """The stream of a topic's records from the first one, about 300 in a batch."""
    reader = spark.readStream.format("kafka").option("kafka.bootstrap.servers", lab.bootstrap)
    given = {"subscribe": topic, "startingOffsets": "earliest", "maxOffsetsPerTrigger": 300}
    return reader.options(**given | QUICK | options).load()


def records_of(topic):
    """All records that a topic holds now: a batch, not a stream."""
    reader = spark.read.format("kafka").option("kafka.bootstrap.servers", lab.bootstrap)
    return reader.options(subscribe=topic, **QUICK).load()


departures = with_left(flight_columns(stream_of(trips)))
arrivals = arrival_columns(stream_of(landings))

# %% [markdown]
# The columns `left` and `arrived` say when a flight really left and arrived (UTC). `plane_columns` gives a row for each **record** of the register: the columns of the aircraft, `offset` (all records of a key are in one partition, so the larger offset is the newer record), and `is_deleted` for a **tombstone** (lab 09): a record with a null as its value, which says that this aircraft is gone from the register. Of it only the key, `tailnum`, is left. We join them as they are, by the number of the aircraft:

# %%
from threebrokers.spark import plane_columns, start_query, watch_query

records = plane_columns(records_of(planes))
print("the register:", *records.columns)
watch_query(start_query(departures.join(records, "tailnum"), "append", "as_it_is"))
rows = spark.table("as_it_is")
different = rows.select("carrier", "flight").distinct().count()
print(f"{rows.count()} rows, and {different} of the 883 departures are in them")

# %% [markdown] explains="stream-table join"
# ### Exercise 14.1: How many seats left?
#
# Some departures are there twice, others are gone. Mend the **stream-table join**: in `query`'s table, each of the 883 departures is there once, with its own columns and the `seats` that the register says **at its end**. If it does not know the aircraft, or not any more, `seats` is empty (null).

# %%
records = plane_columns(records_of(planes))
# TODO: make register of records, join departures with it; query = start_query(…, "append", "seats"); watch it
# BEGIN SOLUTION
register = records.groupBy("tailnum").agg(F.max_by("seats", "offset").alias("seats"))
query = start_query(departures.join(register, "tailnum", "left"), "append", "seats")
watch_query(query)
spark.table("seats").groupBy("origin").agg(F.sum("seats"), F.count("seats"), F.count("*")).show()
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# Which of an aircraft's records is the table's row? What is the row if that record is a tombstone? And what does a join do with a row that finds no partner?
#
# </details>
# <details><summary>Another hint</summary>
#
# `F.max_by(column, other)` is the value of `column` in the row in which `other` is largest. The third argument of `join` is the kind of join: the rows of the left side can be kept.
#
# </details>

# %% tags=["wrong"]
# the records as they are, none lost | are in the table more than once
query = start_query(departures.join(records, "tailnum", "left"), "append", "seats")
watch_query(query)

# %% tags=["wrong"]
# only what has a partner | are not in the register
register = records.groupBy("tailnum").agg(F.max_by("seats", "offset").alias("seats"))
query = start_query(departures.join(register, "tailnum"), "append", "seats")
watch_query(query)

# %% tags=["wrong"]
# the tombstones first | was deleted, and its record before that is back
register = records.where("NOT is_deleted").groupBy("tailnum").agg(F.max_by("seats", "offset").alias("seats"))
query = start_query(departures.join(register, "tailnum", "left"), "append", "seats")
watch_query(query)

# %% tags=["wrong"]
# the first record | the register has corrected that
register = records.groupBy("tailnum").agg(F.min_by("seats", "offset").alias("seats"))
query = start_query(departures.join(register, "tailnum", "left"), "append", "seats")
watch_query(query)

# %% tags=["wrong"]
# no seats for the unknown | the register does not know it
register = records.groupBy("tailnum").agg(F.max_by("seats", "offset").alias("seats"))
seats = departures.join(register, "tailnum", "left").fillna(0, ["seats"])
query = start_query(seats, "append", "seats")
watch_query(query)

# %% tags=["wrong"]
# only some columns of a departure | has no column `scheduled`
register = records.groupBy("tailnum").agg(F.max_by("seats", "offset").alias("seats"))
some = departures.select("carrier", "flight", "tailnum")
query = start_query(some.join(register, "tailnum", "left"), "append", "seats")
watch_query(query)

# %% tags=["right"]
# by a window over the records
from pyspark.sql import Window

order = Window.partitionBy("tailnum").orderBy(F.desc("offset"))
last = records.withColumn("place", F.row_number().over(order)).where("place = 1 AND NOT is_deleted")
query = start_query(departures.join(last.select("tailnum", "seats"), "tailnum", "left"), "append", "seats")
query.awaitTermination(120)

# %% tags=["nbval-check-output"]
lab.check.seats_that_left(query)

# %% [markdown]
# The function `latest_planes` makes such a table of the register's records. Now a table changes while a query runs. `N713TW` leaves New York more than once on this day. After the first batch, its airline takes out all seats but seven, and a record says so. Which number do the departures in the batches after that get?
#
# `foreachBatch(note)` calls `note` with each batch, a DataFrame, and its number. (For that, the notebook must be the process that plans the query, Spark's *driver*: with Spark Connect, `session("sc://…")`, it would run in the server, without `lab` and `seen`, and PySpark refuses to send it there. All other cells of this lab work with it.)

# %%
guess_14a = lab.predict("14.a")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_14a.choose("the old one")
# END SOLUTION

# %%
import json

from threebrokers.data import send
from threebrokers.spark import fresh_folder, latest_planes

aircraft, seen = "N713TW", []
changing = planes_topic(lab, "state-changing")  # the register once more: this one will not stay as it is


def note(batch, number):
    """Note the seats of one aircraft in each batch; after batch 0, change the table."""
    seen.extend((number, row.seats) for row in batch.where(F.col("tailnum") == aircraft).collect())
    if number == 0:
        send(lab, changing, [(aircraft.encode(), json.dumps({"seats": 7}).encode())])


table = latest_planes(records_of(changing))
writer = departures.join(table, "tailnum", "left").writeStream.foreachBatch(note)
watch_query(writer.option("checkpointLocation", fresh_folder("changing")).trigger(availableNow=True).start())
print("batch and seats:", seen)
later = {seats for number, seats in seen if number > 0}
old_or_both = "both: each comes twice" if 7 in later else "the old one"
guess_14a.compare("the new one" if later == {7} else old_or_both)

# %% [markdown] covers="E293 E292 A017 A049" explains="Kafka Streams, KStream, KTable, GlobalKTable, ksqlDB"
# Spark reads this table, which is a topic, **again for each batch**. (Of a folder of files it reads the files that were there at the start: look at what your source does.) So a row has the version that was there when its batch ran, and nobody can say later which that was. It costs, too: a large table is read a thousand times. With `cache()` it is read once, and grows old.
#
# **Kafka Streams** (a library for Java, since 2016; a program with it needs no cluster beside the brokers) reads the table as what it is, a stream of changes: each program keeps a copy of its partitions, and a change is one record. **ksqlDB**, of the company Confluent and not of Apache, puts SQL on top. There, a question is not asked once: its answer goes on changing.
#
# | here | Kafka Streams | ksqlDB |
# |---|---|---|
# | stream | `KStream` | `CREATE STREAM` |
# | table | `KTable`; `GlobalKTable`: all of it in each program | `CREATE TABLE` |
# | stream with table | `departures.leftJoin(planes, …)` | `… LEFT JOIN planes p ON d.tailnum = p.tailnum EMIT CHANGES` |
#
# Such lines are for readers who meet these two at work. No exercise needs them.

# %% [markdown] covers="B074 E297" explains="stream-stream join"
# ## A stream with a stream
#
# Which arrival belongs to which departure? Neither side is a table, and a partner comes hours later. So in a **stream-stream join** each new row looks for partners among the rows of the other side that have come already: these are the state of the join. We join by aircraft, airline and flight; on this day that is one departure and at most one arrival: ten flights landed elsewhere.
#
# When all is read, how many rows are in the state?

# %%
guess_14b = lab.predict("14.b")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_14b.choose("10: those without a partner")
# END SOLUTION

# %%
out = departures.select("tailnum", "carrier", "flight", "left")
query = start_query(out.join(arrivals, ["tailnum", "carrier", "flight"]), "append", "pairs")
watch_query(query)
kept = query.lastProgress["stateOperators"][0]["numRowsTotal"]
print(f"{spark.table('pairs').count()} pairs; {kept:,} rows are in the state")
many = "1,756: all rows" if kept > 1000 else "883: one side"
guess_14b.compare("10: those without a partner" if kept < 20 else many)

# %% [markdown] explains="time bound"
# Both sides are kept. A row that has found its partner could find another one: Spark cannot know that there is only one. To forget a row, it must know two things: how late records can be, a **watermark on each side**; and how far apart partners can be, a **time bound** in the condition, such as `click BETWEEN search AND search + INTERVAL 5 MINUTES`.

# %% [markdown]
# ### Exercise 14.2: Forget what has landed
#
# Make `query`: each departure with its arrival (873 pairs), columns `tailnum`, `carrier`, `flight`, `left` and `arrived`. No flight takes 12 hours; on both sides, records are at most ten minutes late. What can find no partner any more must leave the state; the rows of the last 12 hours, some hundreds, stay.

# %%
out = departures.select("tailnum", "carrier", "flight", "left")
back = arrivals.select("tailnum", "carrier", "flight", "arrived")
# TODO: join them; query = start_query(…, "append", "flown"); then watch_query(query)
# BEGIN SOLUTION
out, back = out.withWatermark("left", "10 minutes"), back.withWatermark("arrived", "10 minutes")
pairs = out.join(back, ["tailnum", "carrier", "flight"])
query = start_query(pairs.where("arrived BETWEEN left AND left + INTERVAL 12 HOURS"), "append", "flown")
watch_query(query)
print([step["stateOperators"][0]["numRowsTotal"] for step in query.recentProgress])
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# When may Spark forget a departure? It needs two facts. Which of them is about each stream by itself, which about the two rows of a pair?
#
# </details>
# <details><summary>Another hint</summary>
#
# `withWatermark` on each of the two streams, before the join. The bound can stand in a `where` after the join. `BETWEEN a AND b` needs the earlier time first.
#
# </details>

# %% tags=["wrong"]
# the bound only | has no watermark
pairs = out.join(back, ["tailnum", "carrier", "flight"])
query = start_query(pairs.where("arrived BETWEEN left AND left + INTERVAL 12 HOURS"), "append", "flown")
watch_query(query)

# %% tags=["wrong"]
# watermarks only | Spark finds no condition by which partners are at most 12 hours apart
out, back = out.withWatermark("left", "10 minutes"), back.withWatermark("arrived", "10 minutes")
query = start_query(out.join(back, ["tailnum", "carrier", "flight"]), "append", "flown")
watch_query(query)

# %% tags=["wrong"]
# watermarks of a day, to be safe | the watermark is 1 day behind
out, back = out.withWatermark("left", "1 day"), back.withWatermark("arrived", "1 day")
pairs = out.join(back, ["tailnum", "carrier", "flight"])
query = start_query(pairs.where("arrived BETWEEN left AND left + INTERVAL 12 HOURS"), "append", "flown")
watch_query(query)

# %% tags=["wrong"]
# an upper bound only | those of one stream stay
out, back = out.withWatermark("left", "10 minutes"), back.withWatermark("arrived", "10 minutes")
pairs = out.join(back, ["tailnum", "carrier", "flight"])
query = start_query(pairs.where("arrived <= left + INTERVAL 12 HOURS"), "append", "flown")
watch_query(query)

# %% tags=["wrong"]
# a bound of 16 hours, to be safe | rows stay for longer than 12 hours
out, back = out.withWatermark("left", "10 minutes"), back.withWatermark("arrived", "10 minutes")
pairs = out.join(back, ["tailnum", "carrier", "flight"])
query = start_query(pairs.where("arrived BETWEEN left AND left + INTERVAL 16 HOURS"), "append", "flown")
watch_query(query)

# %% tags=["wrong"]
# a watermark of half a day | rows are in the state: the watermark is 12 hours behind
out, back = out.withWatermark("left", "12 hours"), back.withWatermark("arrived", "12 hours")
pairs = out.join(back, ["tailnum", "carrier", "flight"])
query = start_query(pairs.where("arrived BETWEEN left AND left + INTERVAL 12 HOURS"), "append", "flown")
watch_query(query)

# %% tags=["wrong"]
# a watermark of ten seconds | the watermark is only 10 seconds behind
out, back = out.withWatermark("left", "10 seconds"), back.withWatermark("arrived", "10 seconds")
pairs = out.join(back, ["tailnum", "carrier", "flight"])
query = start_query(pairs.where("arrived BETWEEN left AND left + INTERVAL 12 HOURS"), "append", "flown")
watch_query(query)

# %% tags=["wrong"]
# a watermark of ten seconds on one side | one watermark is only 10 seconds behind
out, back = out.withWatermark("left", "10 minutes"), back.withWatermark("arrived", "10 seconds")
pairs = out.join(back, ["tailnum", "carrier", "flight"])
query = start_query(pairs.where("arrived BETWEEN left AND left + INTERVAL 12 HOURS"), "append", "flown")
watch_query(query)

# %% tags=["wrong"]
# an outer join | a left outer join
out = out.withWatermark("left", "10 minutes").alias("o")
back = back.withWatermark("arrived", "10 minutes").alias("b")
same = "o.tailnum = b.tailnum AND o.carrier = b.carrier AND o.flight = b.flight"
bound = "b.arrived BETWEEN o.left AND o.left + INTERVAL 12 HOURS"
pairs = out.join(back, F.expr(f"{same} AND {bound}"), "left").select("o.*", "b.arrived")
query = start_query(pairs, "append", "flown")
watch_query(query)

# %% tags=["wrong"]
# the aircraft only | arrivals of another flight of the same aircraft
out, back = out.withWatermark("left", "10 minutes"), back.withWatermark("arrived", "10 minutes")
pairs = out.join(back.select("tailnum", "arrived"), ["tailnum"])
query = start_query(pairs.where("arrived BETWEEN left AND left + INTERVAL 12 HOURS"), "append", "flown")
watch_query(query)

# %% tags=["wrong"]
# too short | pairs are missing, all of long flights
out, back = out.withWatermark("left", "10 minutes"), back.withWatermark("arrived", "10 minutes")
pairs = out.join(back, ["tailnum", "carrier", "flight"])
query = start_query(pairs.where("arrived BETWEEN left AND left + INTERVAL 5 HOURS"), "append", "flown")
watch_query(query)

# %% tags=["wrong"]
# the wrong way round | the table has no rows
out, back = out.withWatermark("left", "10 minutes"), back.withWatermark("arrived", "10 minutes")
pairs = out.join(back, ["tailnum", "carrier", "flight"])
query = start_query(pairs.where("left BETWEEN arrived AND arrived + INTERVAL 12 HOURS"), "append", "flown")
watch_query(query)

# %% tags=["wrong"]
# as long as the longest flight of this day | waits only for 11 hours 35 minutes
out, back = out.withWatermark("left", "10 minutes"), back.withWatermark("arrived", "10 minutes")
pairs = out.join(back, ["tailnum", "carrier", "flight"])
bound = "arrived BETWEEN left AND left + INTERVAL 11 HOURS 35 MINUTES"
query = start_query(pairs.where(bound), "append", "flown")
watch_query(query)

# %% tags=["right"]
# the condition in the join
out = out.withWatermark("left", "10 minutes").alias("o")
back = back.withWatermark("arrived", "10 minutes").alias("b")
same = "o.tailnum = b.tailnum AND o.carrier = b.carrier AND o.flight = b.flight"
bound = "b.arrived >= o.left AND b.arrived <= o.left + INTERVAL 12 HOURS"
pairs = out.join(back, F.expr(f"{same} AND {bound}")).select("o.*", "b.arrived")
query = start_query(pairs, "append", "flown")
query.awaitTermination(120)

# %% tags=["nbval-check-output"]
lab.check.forgets_what_landed(query)

# %% [markdown]
# The ten flights that landed elsewhere are not in these pairs. So the same join as a *left outer join*: each departure without an arrival comes too, with an empty `arrived`. (`flown` is the course's function for it. It has the bound of 12 hours in the condition of the join: a `where` behind an outer join would drop each row whose `arrived` is empty.) All records of the day are read.
#
# The ten left between 18:51 and 21:07 (UTC), and the last departure of all at 05:59 the next morning. A query has one watermark: the smaller one of its streams. How many of the ten come?

# %%
guess_14c = lab.predict("14.c")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_14c.choose("all ten")
# END SOLUTION

# %%
from threebrokers.spark import flown

watch_query(start_query(flown(departures, arrivals, "left"), "append", "outer"))
without = spark.table("outer").where("arrived IS NULL").count()
print(f"{without} departures without an arrival")
guess_14c.compare("all ten" if without == 10 else "none" if without == 0 else "some of them")

# %% [markdown] explains="JoinWindows"
# *Has not arrived* is known only when nothing can arrive any more: 12 hours after the flight left, by the watermark. That of the departures, the **slower** stream, is 05:49, and the first of the ten is due at 06:51. Tomorrow's departures would move it. If no more records come, this answer never comes. So let a stream that is often silent send a record from time to time, only for its time. (`spark.sql.streaming.multipleWatermarkPolicy` can be `max`: then the slower stream loses records.)
#
# Kafka Streams: `departures.join(arrivals, …, JoinWindows.ofTimeDifferenceAndGrace(…).before(Duration.ZERO))`; ksqlDB: `JOIN … WITHIN (0 SECONDS, 12 HOURS) GRACE PERIOD 10 MINUTES`. (Without `before(…)` and the 0, an arrival *before* the departure is a partner, too. *Grace* is the delay of the watermark.)

# %% [markdown] explains="dropDuplicatesWithinWatermark"
# ## The same report twice
#
# Lab 10 showed why a record can come twice. To know it again, a query must remember what it saw: state. `dropDuplicates(columns)` remembers for ever, unless the column of the watermark is among its columns; then a copy must have the same time. `dropDuplicatesWithinWatermark(columns)` drops copies that are no further apart than the delay of the watermark. It forgets a record when the watermark has passed its time by that delay, too: when times about two delays later have come. A copy that comes later *may* be dropped, or not.
#
# A record behind the watermark is dropped though it is no copy (`numRowsDroppedByWatermark`). So the delay must cover both: how far apart copies are, and how late a first record may be.
#
# (Kafka Streams 4.3 has no such operation: a processor with a window store does it. In ksqlDB it is a count in a window, of which only the first row is kept.)

# %% [markdown]
# ### Exercise 14.3: Each departure once
#
# Airports report departures to `state-reports`. If a report is not acknowledged, it is sent again, up to six hours later: the same flight, with a new `sent`. Make `query`: its table `once` holds each of the 883 departures once, whatever happens within the six hours, and the query does not remember much longer than it must.

# %%
from threebrokers.data import reports_topic

text = F.col("value").cast("string")
shape = "sent TIMESTAMP, carrier STRING, flight INT, scheduled TIMESTAMP, tailnum STRING"
found = stream_of(reports_topic(lab, "state-reports"), maxOffsetsPerTrigger=150)
reports = found.select(F.from_json(text, shape).alias("report")).select("report.*")
# TODO: drop the copies; query = start_query(…, "append", "once"); then watch_query(query)
# BEGIN SOLUTION
once = reports.withWatermark("sent", "6 hours")
once = once.dropDuplicatesWithinWatermark(["carrier", "flight", "scheduled"])
query = start_query(once, "append", "once")
watch_query(query)
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# What is the same in a report and its copy, and in no other report? Which promise of the sender says how long you must remember?
#
# </details>
# <details><summary>Another hint</summary>
#
# Two airlines can use one number, and yesterday's flight may leave today, just before today's. The watermark belongs on the column that says how far apart copies are.
#
# </details>

# %% tags=["wrong"]
# for ever | remembers each flight for ever
query = start_query(reports.dropDuplicates(["carrier", "flight", "scheduled"]), "append", "once")
watch_query(query)

# %% tags=["wrong"]
# all columns | are there twice: a copy differs in `sent`
query = start_query(reports.withWatermark("sent", "6 hours").dropDuplicates(), "append", "once")
watch_query(query)

# %% tags=["wrong"]
# the aircraft | of 883 departures are gone
once = reports.withWatermark("sent", "6 hours").dropDuplicatesWithinWatermark(["tailnum"])
query = start_query(once, "append", "once")
watch_query(query)

# %% tags=["wrong"]
# without the airline | have the same flight and scheduled
once = reports.withWatermark("sent", "6 hours")
once = once.dropDuplicatesWithinWatermark(["flight", "scheduled"])
query = start_query(once, "append", "once")
watch_query(query)

# %% tags=["wrong"]
# without the plan | have the same carrier and flight
once = reports.withWatermark("sent", "6 hours").dropDuplicatesWithinWatermark(["carrier", "flight"])
query = start_query(once, "append", "once")
watch_query(query)

# %% tags=["wrong"]
# ten minutes | a watermark of 10 minutes
once = reports.withWatermark("sent", "10 minutes")
query = start_query(once.dropDuplicatesWithinWatermark(["carrier", "flight"]), "append", "once")
watch_query(query)

# %% tags=["wrong"]
# by luck | today that was enough
once = reports.withWatermark("sent", "5 hours")
query = start_query(once.dropDuplicatesWithinWatermark(["carrier", "flight"]), "append", "once")
watch_query(query)

# %% tags=["wrong"]
# the time of the plan | the watermark follows `scheduled`
once = reports.withWatermark("scheduled", "6 hours").dropDuplicates(["carrier", "flight", "scheduled"])
query = start_query(once, "append", "once")
watch_query(query)

# %% tags=["wrong"]
# the call that remembers for ever, behind a watermark | and nothing is forgotten
once = reports.withWatermark("sent", "6 hours").dropDuplicates(["carrier", "flight"])
query = start_query(once, "append", "once")
watch_query(query)

# %% tags=["wrong"]
# a week | a watermark of 7 days
once = reports.withWatermark("sent", "7 days")
query = start_query(once.dropDuplicatesWithinWatermark(["carrier", "flight"]), "append", "once")
watch_query(query)

# %% tags=["right"]
# half an hour more, to be safe
once = reports.withWatermark("sent", "6 hours 30 minutes")
query = start_query(once.dropDuplicatesWithinWatermark(["carrier", "flight", "scheduled"]), "append", "once")
query.awaitTermination(120)

# %% tags=["right"]
# in minutes, by other columns
once = reports.withWatermark("sent", "360 minutes")
once = once.dropDuplicatesWithinWatermark(["flight", "tailnum", "carrier"])
query = start_query(once, "append", "once")
query.awaitTermination(120)

# %% tags=["nbval-check-output"]
lab.check.each_report_once(query)

# %% [markdown] covers="D204 C027 D205" explains="transformWithState, StatefulProcessor, timer, state store, RocksDB"
# ## State of your own
#
# No built-in operation knows what happens *between* events: how long is an aircraft away from New York, from one departure to the next? And which are still away after 12 hours? A dictionary in a program would forget all with the program. **`transformWithState`** runs code of yours, a **`StatefulProcessor`**, for each key, with state that is in the checkpoint, as offsets are. It needs the **state store RocksDB**, which keeps most of it on the disk, outside the memory ([measured](../docs/scaling.md)).
#
# - `init` is called first, and gets the `handle`.
# - `handleInputRows` gets a key, a tuple (`key[0]` is the tail number), and its new rows. What it yields are rows of the result.
# - `handle.getValueState` is a value for each key, a tuple: `exists`, `get`, `update`, `clear`.
# - A **timer** is a time at which you are called, though no record comes: `handleExpiredTimer`, here when the watermark has passed it (`EventTime`). `handle.registerTimer` sets one, in milliseconds since 1970. A key may have many.

# %% tags=["needed"]
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
spark.conf.set("spark.sql.streaming.stateStore.providerClass", ROCKSDB)

# %%
from pyspark.sql import Row
from pyspark.sql.streaming import StatefulProcessor

HALF_A_DAY = 12 * 60 * 60


class Turns(StatefulProcessor):
    """Minutes from one departure of an aircraft to its next; an empty number if it is away for 12 hours."""

    def init(self, handle):
        self.handle, self.last = handle, handle.getValueState("last", "second LONG")

    def handleInputRows(self, key, rows, timerValues):
        for second in sorted(row.second for row in rows):
            if self.last.exists():
                yield Row(tailnum=key[0], second=second, minutes=(second - self.last.get()[0]) / 60)
            self.last.update((second,))
            self.watch(second)

    def watch(self, second):
        self.handle.registerTimer((second + HALF_A_DAY) * 1000)

    def handleExpiredTimer(self, key, timerValues, expiredTimerInfo):
        if self.last.exists():
            yield Row(tailnum=key[0], second=self.last.get()[0], minutes=None)
            self.last.clear()


# %% [markdown]
# `away` uses such a processor: `transformWithState` gets it, the columns of the result, the output mode, and the clock of the timers. The state of an aircraft begins with its first departure, and ends with the alarm. Times are whole seconds since 1970 (`second`): a number can lose no time zone on its way to Python and back.


# %%
def away(processor, clock="EventTime"):
    """The turns of each aircraft, and an alarm (no minutes) for those that are away for 12 hours."""
    seconds = departures.withColumn("second", F.unix_timestamp("left")).withWatermark("left", "10 minutes")
    columns = "tailnum STRING, second LONG, minutes DOUBLE"
    found = seconds.groupBy("tailnum").transformWithState(processor, columns, "append", clock)
    return found.select("tailnum", F.timestamp_seconds("second").alias("left"), "minutes")


watch_query(start_query(away(Turns()), "append", "turns"))
turns = spark.table("turns")
print(turns.where("minutes IS NULL").count(), "alarms,", turns.where("minutes > 0").count(), "turns")
turns.where("minutes IS NULL").orderBy("tailnum").limit(3).toPandas()

# %% [markdown]
# ### Exercise 14.4: Only those that are still away
#
# Many of these alarms are false: the aircraft had left again in time, but the timer of the departure before was still set. Make `Watched`, a class from `Turns` that overrides one method, and run it: `query` with the table `watched`.

# %%
# TODO: class Watched(Turns): … ; then query = start_query(away(Watched()), "append", "watched"), and watch it
# BEGIN SOLUTION


class Watched(Turns):
    """Turns and alarms; a departure takes back the timer of the one before."""

    def watch(self, second):
        for old in self.handle.listTimers():
            self.handle.deleteTimer(old)
        super().watch(second)


query = start_query(away(Watched()), "append", "watched")
watch_query(query)
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# After a second departure of the same aircraft, how many timers does it have? Which of them should still ring? You can act at two moments: when you set a timer, or when one rings. Choose one.
#
# </details>
# <details><summary>Another hint</summary>
#
# `handle.listTimers()` gives the key's timers (milliseconds), `handle.deleteTimer(one)` takes one back. `expiredTimerInfo.getExpiryTimeInMs()` says which one rings.
#
# </details>


# %% tags=["wrong"]
# as it was | false alarms
class Watched(Turns):
    pass


query = start_query(away(Watched()), "append", "watched")
watch_query(query)


# %% tags=["wrong"]
# no timers any more | there is no alarm
class Watched(Turns):
    def watch(self, second):
        super().watch(second)
        for one in self.handle.listTimers():
            self.handle.deleteTimer(one)


query = start_query(away(Watched()), "append", "watched")
watch_query(query)


# %% tags=["wrong"]
# seconds | before 12 hours had passed
class Watched(Turns):
    def watch(self, second):
        for old in self.handle.listTimers():
            self.handle.deleteTimer(old)
        self.handle.registerTimer(second + HALF_A_DAY)


query = start_query(away(Watched()), "append", "watched")
watch_query(query)


# %% tags=["wrong"]
# an alarm with a number | an alarm has no minutes
class Watched(Turns):
    def watch(self, second):
        for old in self.handle.listTimers():
            self.handle.deleteTimer(old)
        super().watch(second)

    def handleExpiredTimer(self, key, timerValues, expiredTimerInfo):
        yield Row(tailnum=key[0], second=self.last.get()[0], minutes=720.0)
        self.last.clear()


query = start_query(away(Watched()), "append", "watched")
watch_query(query)


# %% tags=["wrong"]
# the state stays after an alarm | are still in the state
class Watched(Turns):
    def watch(self, second):
        for old in self.handle.listTimers():
            self.handle.deleteTimer(old)
        super().watch(second)

    def handleExpiredTimer(self, key, timerValues, expiredTimerInfo):
        yield Row(tailnum=key[0], second=self.last.get()[0], minutes=None)


query = start_query(away(Watched()), "append", "watched")
watch_query(query)


# %% tags=["wrong"]
# each batch begins anew | turns are missing
class Watched(Turns):
    def handleInputRows(self, key, rows, timerValues):
        self.last.clear()
        yield from super().handleInputRows(key, rows, timerValues)

    def watch(self, second):
        for old in self.handle.listTimers():
            self.handle.deleteTimer(old)
        super().watch(second)


query = start_query(away(Watched()), "append", "watched")
watch_query(query)


# %% tags=["right"]
# asked when it rings
class Watched(Turns):
    def handleExpiredTimer(self, key, timerValues, expiredTimerInfo):
        if (
            self.last.exists()
            and (self.last.get()[0] + HALF_A_DAY) * 1000 == expiredTimerInfo.getExpiryTimeInMs()
        ):
            yield from super().handleExpiredTimer(key, timerValues, expiredTimerInfo)


query = start_query(away(Watched()), "append", "watched")
query.awaitTermination(120)

# %% tags=["nbval-check-output"]
lab.check.still_away(query)

# %% [markdown] explains="Processor API, punctuator"
# | here | Kafka Streams | ksqlDB |
# |---|---|---|
# | `transformWithState` | **Processor API**: `process()` with a `Processor` and a state store | none: functions in Java |
# | timer | **punctuator**: `context.schedule(…)`, again and again, for all keys | none |
# | `EventTime`, `ProcessingTime` | `STREAM_TIME`, `WALL_CLOCK_TIME` | |

# %% [markdown]
# ## What to remember
#
# - A table is a stream read to its end: the last record of each key counts, and a tombstone is a row that is gone.
# - A join of streams keeps both sides. Only watermarks on both, and a time bound, let it forget; what did *not* happen is known late.
# - Whoever keeps state decides when it ends: a watermark, a bound, or a timer that is taken back in time.
#
# ## Quiz
#
# Each answer is explained when you have chosen it. The first one is kept with your progress, on this machine.

# %%
lab.quiz()

# %% [markdown]
# ## Going further
#
# What follows is not needed for other labs.

# %% [markdown] covers="E303" explains="interactive query, statestore (data source)"
# ### The state is a table, too
#
# The state of a query *is* its table: the newest row of each key. Results that were written are its changes. Kafka Streams can be asked for it while it runs, key by key: an **interactive query** (in ksqlDB a *pull query*). Spark keeps state in the checkpoint, and reads that as a table, with the data source **statestore**: as it was after one of the last hundred batches, also when the query has ended.
#
# The next processor yields nothing: all that it knows is in its state. It never forgets an aircraft; in a query that runs for years, a value can have a time to live (`getValueState(…, ttlDurationMs=…)`), by the clock only: with `"ProcessingTime"` in place of `"None"`. There are also lists and maps: `getListState`, `getMapState`.


# %%
from threebrokers.spark import folder


class Places(StatefulProcessor):
    """Keep for each aircraft where it went last, and when; yield nothing."""

    def init(self, handle):
        self.place = handle.getValueState("place", "dest STRING, second LONG")

    def handleInputRows(self, key, rows, timerValues):
        last = max(rows, key=lambda row: row.second)
        self.place.update((last.dest, last.second))
        yield from ()


def keep_places():
    """Run a query with `Places` to its end; return it. Its checkpoint is the folder `places`."""
    seconds = departures.withColumn("second", F.unix_timestamp("left")).groupBy("tailnum")
    kept = seconds.transformWithState(Places(), "tailnum STRING", "update", "None")
    query = start_query(kept, "update", "places")
    watch_query(query)
    return query


keep_places()
reader = spark.read.format("statestore").option("stateVarName", "place").option("batchId", 0)
reader.load(str(folder("places"))).limit(2).toPandas()

# %% [markdown]
# ### Exercise 14.5: Where are they?
#
# Make `held`, a DataFrame of Spark with a row for each of the 682 aircraft: `tailnum`, `dest` and `second` of its last departure, as the state says when all is read.

# %%
query = keep_places()
checkpoint = str(folder("places"))
# TODO: read the state of the checkpoint into held
# BEGIN SOLUTION
state = spark.read.format("statestore").option("stateVarName", "place").load(checkpoint)
held = state.select("key.tailnum", "value.dest", "value.second")
held.groupBy("dest").count().orderBy(F.desc("count")).limit(3).show()
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# The cell above shows two rows of the state. After which batch was that? Which columns hold others inside?
#
# </details>
# <details><summary>Another hint</summary>
#
# Without `batchId` you get the state after the last batch. `select("key.tailnum")` takes a field out of a column.
#
# </details>

# %% tags=["wrong"]
# the query's results | `held` has no rows
held = spark.table("places").selectExpr("tailnum", "'' AS dest", "0 AS second")

# %% tags=["wrong"]
# after the first batch | is older than that
state = spark.read.format("statestore").option("stateVarName", "place").option("batchId", 0).load(checkpoint)
held = state.select("key.tailnum", "value.dest", "value.second")

# %% tags=["wrong"]
# one partition of the state | are not in `held`
state = spark.read.format("statestore").option("stateVarName", "place").load(checkpoint)
held = state.where("partition_id = 0").select("key.tailnum", "value.dest", "value.second")

# %% tags=["wrong"]
# as it comes | the fields are inside the column
held = spark.read.format("statestore").option("stateVarName", "place").load(checkpoint)

# %% tags=["wrong"]
# from the topic | they come from the topic, not from the state
flights = with_left(flight_columns(records_of(trips))).withColumn("second", F.unix_timestamp("left"))
last = F.max_by(F.struct("dest", "second"), "second").alias("last")
held = flights.groupBy("tailnum").agg(last).select("tailnum", "last.dest", "last.second")

# %% tags=["wrong"]
# through Python | `held` itself reads no state
state = spark.read.format("statestore").option("stateVarName", "place").load(checkpoint)
held = spark.createDataFrame(state.select("key.tailnum", "value.dest", "value.second").toPandas())

# %% tags=["nbval-check-output"]
lab.check.state_as_table(held)

# %% [markdown] covers="E295 E298 E310 E311 E308 E309" explains="co-partitioning, repartition topic, task (Kafka Streams)"
# ### Who has the row?
#
# In Kafka Streams, the work is cut into **tasks**: task 2 reads partition 2 of *each* topic that is joined, runs all steps for it, and keeps the state of these keys only. There are as many tasks as partitions; threads and machines share them. So what belongs together must lie in partitions of the same number: this is **co-partitioning**. Otherwise a program writes its stream anew first, into a **repartition topic**.
#
# We join departures with the weather of their hour: `state-weather`, four partitions, the key is airport and hour. The departures are keyed by aircraft, in one partition. `found_by_tasks` plays four tasks: each looks for its records' keys in the partition with the same number. So only task 0 has any.

# %%
from threebrokers.data import found_by_tasks, weather_topic

weather = weather_topic(lab, "state-weather", partitions=4)
hour = F.concat_ws(" ", "origin", F.date_format("scheduled", "dd MMM HH")).alias("key")
by_hour = flight_columns(records_of(trips), "value").select(hour, "value")


def send_rows(rows, name, partitions=4):
    """Write rows (key, value) with Spark into a fresh topic; return its full name."""
    topic = lab.fresh_topic(name, partitions=partitions, replication_factor=3)
    writer = rows.select("key", "value").write.format("kafka")
    writer.option("kafka.bootstrap.servers", lab.bootstrap).option("topic", topic).save()
    return topic


found_by_tasks(lab, trips, weather)

# %% [markdown]
# Now Spark writes the departures anew, with the right key, into four partitions, too. Spark's producer is Java's; a Python program has written the weather, and the two put a key into different partitions (lab 02). Then **Spark** joins both topics. For how many of the 883 does it find the weather?

# %%
guess_14d = lab.predict("14.d")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_14d.choose("about a quarter")
# END SOLUTION

# %%
keyed = send_rows(by_hour, "state-by-hour")
joined = records_of(keyed).join(records_of(weather).select("key"), "key")
found = joined.count()
guess_14d.compare("all" if found == 883 else "none" if found == 0 else "about a quarter")
found_by_tasks(lab, keyed, weather)

# %% [markdown]
# Spark does not care in which partition a row lies: it moves rows until equal keys meet: in a batch all rows of both sides, in a stream the new ones of each batch (its state stays where it is). That goes over the network. A small table can be sent whole to each task instead (`F.broadcast`). Its plan has an `Exchange` for each move:

# %%
from contextlib import redirect_stdout
from io import StringIO


def moves(table):
    """The steps of Spark's plan in which rows of a table move to other tasks."""
    with redirect_stdout(StringIO()) as plan:
        table.explain()
    return [line.strip(" :+-") for line in plan.getvalue().splitlines() if "Exchange" in line]


print(*moves(joined), sep="\n")

# %% [markdown]
# The tasks of Kafka Streams stay in their partitions, move nothing, and find what chance has brought together. For them, three things must be the same on both sides: the key, **byte by byte**; the number of partitions; and the **partitioner**.
#
# | here | Kafka Streams | ksqlDB |
# |---|---|---|
# | Spark's exchange, in each batch | `selectKey(…).repartition(…)`, a topic between; a join right after `selectKey` does it by itself | the same for a stream: by itself, or `CREATE STREAM … WITH (PARTITIONS=4) AS SELECT … PARTITION BY …`; never for a table |
# | unequal numbers | refused: *Topics not co-partitioned* | refused: *the number of partitions don't match* |
# | unequal partitioners | nobody notices: rows are missing | the same |
# | without all this | `GlobalKTable`, foreign-key join | foreign-key join |

# %% [markdown]
# ### Exercise 14.6: Four tasks, and each finds all
#
# Make `stream` (the departures) and `table` (all the weather), the full names of two topics with four partitions, co-partitioned: for each of the 883 departures its task finds the weather.

# %%
weather = weather_topic(lab, "state-weather", partitions=4)
# TODO: write what must be written anew (send_rows, records_of); then stream = … and table = …
# BEGIN SOLUTION
stream = send_rows(by_hour, "state-left")
table = send_rows(records_of(weather), "state-right")
print(found_by_tasks(lab, stream, table))
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# One side was written by one producer, the other one by another. What could you do with the side that is already right?
#
# </details>
# <details><summary>Another hint</summary>
#
# `records_of(weather)` has the columns `key` and `value`. `send` (from `threebrokers.data`) is the Python way.
#
# </details>

# %% tags=["wrong"]
# only one side anew | find their weather
stream, table = send_rows(by_hour, "state-left"), weather

# %% tags=["wrong"]
# the same topic on both sides | one topic is both
stream = table = send_rows(by_hour, "state-left")

# %% tags=["wrong"]
# the key of the aircraft | is the key of no row in the table
stream = send_rows(records_of(trips), "state-left")
table = send_rows(records_of(weather), "state-right")

# %% tags=["wrong"]
# five and four | partitions, and the table
stream = send_rows(by_hour, "state-left", partitions=5)
table = send_rows(records_of(weather), "state-right")

# %% tags=["wrong"]
# one partition | one task does all the work
stream = send_rows(by_hour, "state-left", partitions=1)
table = send_rows(records_of(weather), "state-right", partitions=1)

# %% tags=["wrong"]
# keys without weather | say nothing of the weather
stream = send_rows(by_hour, "state-left")
table = send_rows(records_of(weather).select("key", F.lit("").alias("value")), "state-right")

# %% tags=["right"]
# both by Python
from threebrokers.data import send

stream = lab.fresh_topic("state-left", partitions=4, replication_factor=3)
send(lab, stream, [(row.key.encode(), bytes(row.value)) for row in by_hour.collect()])
table = weather

# %% tags=["nbval-check-output"]
lab.check.co_partitioned(stream, table)

# %% [markdown] covers="E294 E296"
# ### A table with a table
#
# Two tables are joined as in any database, without windows: the result is a table that changes when either side does. Kafka Streams does it row by row (`KTable.join`), also by a column that is not the key (*foreign-key join*, since 2.4). Spark's streams know no such table: join the two in a batch, or inside `foreachBatch`, into a database.
#
# | here | Kafka Streams | ksqlDB |
# |---|---|---|
# | `fleet.join(makers, "tailnum")`, in a batch | `fleet.join(makers, …)` of two `KTable`s | `CREATE TABLE … AS SELECT … FROM fleet f JOIN makers m ON f.tailnum = m.tailnum` |
# | the same, by another column | `trips.join(makers, trip -> trip.tailnum, …)` | `… ON t.tailnum = m.tailnum`: the right side's key |

# %%
from threebrokers.data import late_departures

makers = latest_planes(records_of(planes))
fleet = spark.createDataFrame(late_departures()[["tailnum", "carrier"]]).distinct()
count = fleet.join(makers, "tailnum").groupBy("carrier", "manufacturer").count()
count.orderBy(F.desc("count")).limit(4).toPandas()

# %% [markdown] covers="D215 E288 E304"
# ### Smallest, mean and largest
#
# To know a mean, keep sum and count: two numbers of state for each key, however many records come. Spark's `avg` does just that; you need no processor for it. In windows of a day these are a day's numbers. In windows that overlap, the mean is a **moving average**: here one of six hours, every two hours.

# %%
six_hours = F.window("left", "6 hours", "2 hours")
delays = departures.groupBy("origin", six_hours)
moving = delays.agg(F.min("dep_delay"), F.avg("dep_delay"), F.max("dep_delay"))
watch_query(start_query(moving, "complete", "moving"))
at_jfk = spark.table("moving").where("origin = 'JFK'").select("window.start", "*").drop("window", "origin")
at_jfk.orderBy("start").limit(6).toPandas()

# %% [markdown]
# | here | Kafka Streams | ksqlDB |
# |---|---|---|
# | `groupBy("origin")` | `groupBy(…)`, or `groupByKey()` if it is the key | `GROUP BY origin` |
# | `count` | `count()` | `COUNT(*)` |
# | `min`, `max` | `reduce(…)`: you write which one stays | `MIN(…)`, `MAX(…)` |
# | `avg` | `aggregate(…)` of sum and count, then `mapValues(…)` | `AVG(…)` |
# | `window(…, "6 hours", "2 hours")` | `windowedBy(TimeWindows.ofSizeWithNoGrace(…).advanceBy(…))` | `WINDOW HOPPING (SIZE 6 HOURS, ADVANCE BY 2 HOURS)` |
#
# Three programs are in every book on streams, and you have written them all. Counting words is counting departures by airport (lab 13), with words for airports. The statistics of a stock are these. A click that gets its user's profile is a departure that gets its aircraft (exercise 14.1).

# %% [markdown] covers="D216"
# ### By airline first, then all together
#
# *Which airlines were the latest?* takes two steps: the mean needs all rows of an airline in one task, the order needs all airlines. In Kafka Streams there is a topic between the two. The first program writes each airline's mean into it, and it has one partition: so one task gets all airlines, and ranks them. That is no bottleneck, because it gets few records. Spark moves rows twice, inside one plan:

# %%
means = flight_columns(records_of(trips)).groupBy("carrier").agg(F.avg("dep_delay").alias("mean"))
latest = means.orderBy(F.desc("mean"))
print(*moves(latest), sep="\n")
latest.limit(3).toPandas()

# %% [markdown] covers="E286"
# ### Whose time does a result have?
#
# | result | its time in Kafka Streams and ksqlDB |
# |---|---|
# | of one record | that record's |
# | of a stream and a table | that of the stream's record |
# | of two streams, or two tables | the later one of the two |
# | of a count, a sum, a mean | the latest one that was counted |
# | of a punctuator | the time at which it was called, by its clock |
#
# A row of Spark has the time columns that you select. If you write it to Kafka, its record gets the time of the writing: the writer has no column for another one. The departures that were written anew above:

# %%
times = records_of(keyed).select("timestamp").toPandas()["timestamp"]
print(f"The flights are of June 2013; the records are from {times.min():%d %B %Y %H:%M:%S} (UTC) and later.")
lab.observed("Spark's records have the time at which they were written", times.min().year > 2013)

# %% [markdown]
# So keep the time of the event in the value, and let readers take it from there, as these labs do.

# %% [markdown] covers="D206 E289 E284 E305 B073 E290 E291 E315" explains="changelog topic, standby replica, topology"
# ### Where state lives
#
# | | Spark | Kafka Streams |
# |---|---|---|
# | in memory or on disk beside the program | memory, or RocksDB | RocksDB |
# | kept safe | in the checkpoint | in a compacted **changelog topic** |
# | its partition gets another owner, after a crash or when a program joins | the new executor reads it from the checkpoint | the new owner reads its changelog partition to the end first; a **standby replica** (`num.standby.replicas`) is ready sooner |
# | larger than memory | RocksDB writes to disk, and is slower then | the same |
# | the plan of a program | `explain()`; always optimized | its **topology** of sources, processors and sinks; optimized if asked for (`topology.optimization=all`) |
# | one input, many outputs: a player's events give each viewer's preferences, and the top videos | a query for each, or `foreachBatch` | `split()`, or two steps after one source |
#
# A group of plain Python programs has to do the same by hand: in `on_assign` (lab 06) read the partition of a compacted topic to its end (lab 09), and only then take the first record.
#
# State in a database outside (Cassandra, Redis) is shared and has no bound. But each record then pays a way over the network, and after a crash nothing ties it to the offsets.

# %% [markdown] covers="E306 E307" explains="TwsTester, TopologyTestDriver"
# ### Test it without brokers
#
# Three kinds of tests, the quick ones first: the function that turns rows into rows, in a batch (the same code as in the stream); the processor by itself, with time that *you* move; the whole against real brokers, as in this lab. PySpark's `TwsTester` does the second; for Kafka Streams it is the `TopologyTestDriver`. For the third, on a server that tests each change (CI), `testcontainers` or a compose file starts a broker for one run of the tests.

# %%
from pyspark.sql.streaming.tws_tester import TwsTester

tester = TwsTester(Turns(), timeMode="EventTime", eventTimeExtractor=lambda row: row.second * 1000)
print(tester.test("N1", [Row(second=3600), Row(second=7200)]))
print("after 12 hours:", tester.setWatermark(12 * 3_600_000))
print("after 15 hours:", tester.setWatermark(15 * 3_600_000))

# %% [markdown] covers="E317"
# ### Which one to choose
#
# | you want | look at first |
# |---|---|
# | copy data between Kafka and other systems | Kafka Connect: no program at all |
# | an action for each record, within milliseconds, stateless | a plain consumer |
# | a service in Java with state, started as any program | Kafka Streams |
# | analysis in SQL or Python within seconds, with large batches too | Spark |
# | large state, event time, and answers within milliseconds | Flink |
#
# Then ask: who runs it at night, which language does the team know, and can a year of records be computed again in a day?

# %% [markdown]
# Compare with [the solution](../solutions/14_spark_state.ipynb). Next: [What if Spark dies?](15_spark_exactly_once.ipynb)
