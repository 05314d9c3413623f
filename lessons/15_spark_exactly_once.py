# %% [markdown]
# # What if Spark dies?
#
# **You will** kill Spark between writing and committing, build sinks that hold each row once in spite of it, and replace a wrong query by a right one without stopping the first.
#
# *{minutes} minutes, and {further} more if you go further. You need lab 13: `departures`, checkpoint, watermark, `watch_query`; and of lab 14 `foreachBatch` and `dropDuplicatesWithinWatermark`.*

# %%
from threebrokers import open_lab

lab = open_lab("15")

# %% [markdown]
# Three questions from earlier labs, to see what is still there:

# %%
lab.review()

# %% [markdown] covers="D178" explains="write-ahead log, foreachBatch, sink"
# ## Written, but not committed
#
# A micro-batch is three steps, and each leaves something behind:
#
# 1. Spark writes into the checkpoint which offsets the batch will read: a file in `offsets`, a **write-ahead log**.
# 2. It reads them and gives the rows to the **sink**, the place of the results.
# 3. It notes in the folder `commits` that the batch is done.
#
# Nothing ties steps 2 and 3 together: the sink is a database, the checkpoint is a folder. So there is a moment in which the rows are written and nobody has noted it.
#
# With `foreachBatch` the sink is a function of yours. It gets each batch as a DataFrame, and its number. Here it writes into a small database (`Book`, a file of SQLite; what happens in a `with` is one transaction).
#
# (With Spark Connect the driver is a server that others use, too: cells that kill it say that they need `session()`.)

# %%
import json

from pyspark.sql import functions as F

from threebrokers.data import replay_topic
from threebrokers.spark import Book, flight_columns, folder, fresh_folder, killed, session, started_again

session()
trips = replay_topic(lab, "exact-trips", partitions=3)
QUICK = {"kafka.fetch.max.wait.ms": 10}  # instead of 500: batches end sooner (lab 12)


def departures(topic, **options):
    """A stream of a topic's departures, each with its place in the topic."""
    reader = session().readStream.format("kafka").option("kafka.bootstrap.servers", lab.bootstrap)
    reader = reader.options(**{"subscribe": topic, "startingOffsets": "earliest"} | QUICK | options)
    return flight_columns(reader.load(), "partition", "offset")


def start_trips(sink, checkpoint):
    """Start a query that gives `sink` the departures, about 300 in a batch."""
    writer = departures(trips, maxOffsetsPerTrigger=300).writeStream.foreachBatch(sink)
    return writer.option("checkpointLocation", checkpoint).trigger(availableNow=True).start()


# %% [markdown]
# The sink `append` only adds rows. `killed` starts the query, and kills Spark's process when batch 2, the last one, is in the database: the machine is gone, and nobody can tidy up.


# %%
def rows_of(batch):
    """Partition, offset and aircraft of each row."""
    return [tuple(row) for row in batch.select("partition", "offset", "tailnum").collect()]


def append(batch, number):
    """Add the rows of a batch to the table."""
    with plain.open() as db:
        db.execute("CREATE TABLE IF NOT EXISTS trips (part, place, tailnum)")
        db.executemany("INSERT INTO trips VALUES (?, ?, ?)", rows_of(batch))


plain = Book("plain")
stopped = killed(start_trips, append, "plain", batch=2, book=plain)
print(plain.rows("SELECT count(*) FROM trips")[0][0], "rows are in the database")

# %% [markdown]
# The topic holds 883 departures. Spark starts again, with the same checkpoint, and reads to the end. How many rows will be in the database?

# %%
guess_15a = lab.predict("15.a")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_15a.choose("883")
# END SOLUTION

# %%
started_again(start_trips, append, "plain")
[(held, different)] = plain.rows("SELECT count(*), count(DISTINCT part || ' ' || place) FROM trips")
print(f"{held:,} rows, {different} different ones")
guess_15a.compare("fewer" if different < 883 else "883" if held == 883 else "about 1,170")

# %% [markdown] covers="E312 E313" explains="spark.task.maxFailures"
# Batch 2 is there twice: Spark promises to run a batch that is not committed **again**, with exactly the offsets of the write-ahead log. So nothing is lost, and rows can come twice: **at least once**. The promise about the offsets is the key to all that follows: the batch that comes again has the *same* records. (It has the same rows only if the query makes the same of them each time: not with `uuid()`, and not with a table that has changed, lab 14.)
#
# Where the query stands, and the state of a query that has one, come from the checkpoint. With an empty one, every record comes again, in other batches: `departures` asks for the first record. Spark's default is `latest`: then all that came in between is lost. Smaller faults need no restart: on a Spark cluster a task that fails is run again, also on another machine, until it has failed four times (`spark.task.maxFailures`). So parts of a batch can be written twice, too.

# %% [markdown]
# ### Exercise 15.1: What will come twice?
#
# `stopped` is a copy of the checkpoint, as Spark's death has left it. Say from its files alone what the next run will write a second time: make `twice`, a dictionary, for each partition the number of records.

# %%
print(sorted(path.name for path in (stopped / "offsets").glob("[0-9]*")), "are planned")
print(sorted(path.name for path in (stopped / "commits").glob("[0-9]*")), "are committed")
# TODO: look into the files of stopped / "offsets": the last line of each is JSON; fill twice
# BEGIN SOLUTION
ends = [json.loads((stopped / "offsets" / name).read_text().splitlines()[-1])[trips] for name in ("1", "2")]
twice = {int(part): end - ends[0][part] for part, end in ends[1].items()}
print(twice)
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# Each file of `offsets` says where a batch ends, in each partition. Where does a batch begin?
#
# </details>
# <details><summary>Another hint</summary>
#
# `json.loads(text.splitlines()[-1])[trips]` is a dictionary: the partition as text, and the offset. Two files are enough: the last committed batch, and the one that is planned only.
#
# </details>

# %% tags=["wrong"]
# the ends of the batch | is where batch 2 ends
places = json.loads((stopped / "offsets" / "2").read_text().splitlines()[-1])[trips]
twice = {int(part): end for part, end in places.items()}

# %% tags=["wrong"]
# Spark knows | says that nothing comes twice
twice = {0: 0, 1: 0, 2: 0}

# %% tags=["wrong"]
# the batch that was committed | is where batch 1 ends
places = json.loads((stopped / "offsets" / "1").read_text().splitlines()[-1])[trips]
twice = {int(part): end for part, end in places.items()}

# %% tags=["wrong"]
# one sum | has the partitions [0]
twice = {0: 285}

# %% tags=["right"]
# partitions as they stand in the files
first, last = (
    json.loads((stopped / "offsets" / name).read_text().splitlines()[-1])[trips] for name in ("1", "2")
)
twice = {part: last[part] - first[part] for part in last}

# %% tags=["nbval-check-output"]
lab.check.what_comes_twice(twice)

# %% [markdown] covers="D174 D175" explains="os.replace"
# ## A sink that may be asked twice
#
# Spark cannot prevent the second time, but the sink can make it harmless. A sink is **idempotent** if writing a batch again changes nothing. There are two ways:
#
# - Each row has a **key** of its own, and the key decides: a row that is there is not added again. The record's place, topic, partition and offset, is such a key.
# - The number of the batch is noted in the **same transaction** as its rows; a batch that is noted is left out. With a new checkpoint the numbers begin at 0 again, for other records: so note the query's `id`, too, which is in the checkpoint.
#
# For files there is a third way: write under another name, then rename to one that is the same when the batch comes again, made of the query's `id` and the batch's number. The second time then takes the place of the first. On a disk a rename happens wholly or not at all (`os.replace`; on S3 there is no rename); Spark's own file sink has a list of the files that count.
#
# At least once, and idempotent, is what Spark calls *exactly once*: the work is done twice, the effect is there once. If your function writes to two places, both must be idempotent: Spark can die between them. And each time that it asks `batch` for rows, the batch is read again: `batch.persist()` before the first time keeps them, `unpersist()` at the end lets them go.

# %% [markdown]
# ### Exercise 15.2: Each departure once
#
# Write `save`: it fills a table `trips` with the columns `part`, `place` (the offset) and `tailnum`. In batch 1, Spark is killed at the **first commit** in your database: at the end of `with keyed.open()`, or at a `db.commit()` before. What was written until then is there, and `save` does not go on. The process that runs `save` (the driver) dies, too: what it kept in memory is gone. Spark starts again, and gives batch 1 to `save` twice then, as after another death behind its last commit. Afterwards each of the 883 departures is in the table once.

# %%
from threebrokers.spark import until_done

keyed = Book("keyed")
# TODO: def save(batch, number): with keyed.open() as db: … (rows_of(batch) helps, and append above)
# query = until_done(start_trips, save, "keyed", kill_in=1, book=keyed)
# BEGIN SOLUTION


def save(batch, number):
    """Add the rows that are not there yet."""
    with keyed.open() as db:
        db.execute("CREATE TABLE IF NOT EXISTS trips (part, place, tailnum, PRIMARY KEY (part, place))")
        db.executemany("INSERT OR IGNORE INTO trips VALUES (?, ?, ?)", rows_of(batch))


query = until_done(start_trips, save, "keyed", kill_in=1, book=keyed)
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# What is the same about a departure when it comes the second time, and different for every other departure? How would the database notice?
#
# </details>
# <details><summary>Another hint</summary>
#
# In SQLite `PRIMARY KEY (a, b)` stands behind the columns of `CREATE TABLE`. `INSERT OR IGNORE` leaves out a row whose key is there; without a key it ignores nothing.
#
# </details>


# %% tags=["wrong"]
# nothing says which row is which, and the table has a transaction of its own | the table has no key
def save(batch, number):
    with keyed.open() as db:
        db.execute("CREATE TABLE IF NOT EXISTS trips (part, place, tailnum)")
    with keyed.open() as db:
        db.executemany("INSERT OR IGNORE INTO trips VALUES (?, ?, ?)", rows_of(batch))


query = until_done(start_trips, save, "keyed", kill_in=1, book=keyed)


# %% tags=["wrong", "raises-exception"]
# a key, and an error when it is there | failed: trips.part, trips.place
def save(batch, number):
    with keyed.open() as db:
        db.execute("CREATE TABLE IF NOT EXISTS trips (part, place, tailnum, PRIMARY KEY (part, place))")
        db.executemany("INSERT INTO trips VALUES (?, ?, ?)", rows_of(batch))


query = until_done(start_trips, save, "keyed", kill_in=1, book=keyed)


# %% tags=["wrong", "raises-exception"]
# takes the place alone for the key | should have a key of its own
def save(batch, number):
    with keyed.open() as db:
        db.execute("CREATE TABLE IF NOT EXISTS trips (part, place PRIMARY KEY, tailnum)")
        db.executemany("INSERT INTO trips VALUES (?, ?, ?)", rows_of(batch))


query = until_done(start_trips, save, "keyed", kill_in=1, book=keyed)


# %% tags=["wrong"]
# the rows first, the batch's number after them | was not noted there in one transaction
def save(batch, number):
    with keyed.open() as db:
        db.execute("CREATE TABLE IF NOT EXISTS trips (part, place, tailnum)")
        db.execute("CREATE TABLE IF NOT EXISTS done (batch INTEGER PRIMARY KEY)")
        known = db.execute("SELECT 1 FROM done WHERE batch = ?", (number,)).fetchone()
        if known:
            return
        db.executemany("INSERT INTO trips VALUES (?, ?, ?)", rows_of(batch))
        db.commit()
        db.execute("INSERT INTO done VALUES (?)", (number,))


query = until_done(start_trips, save, "keyed", kill_in=1, book=keyed)


# %% tags=["wrong"]
# the batch's number first | all of batch 1
def save(batch, number):
    with keyed.open() as db:
        db.execute("CREATE TABLE IF NOT EXISTS trips (part, place, tailnum)")
        db.execute("CREATE TABLE IF NOT EXISTS done (batch INTEGER PRIMARY KEY)")
        if db.execute("INSERT OR IGNORE INTO done VALUES (?)", (number,)).rowcount:
            db.commit()
            db.executemany("INSERT INTO trips VALUES (?, ?, ?)", rows_of(batch))


query = until_done(start_trips, save, "keyed", kill_in=1, book=keyed)


# %% tags=["wrong", "raises-exception"]
# the batch's number, and an error when it is there | failed: done.batch
def save(batch, number):
    with keyed.open() as db:
        db.execute("CREATE TABLE IF NOT EXISTS trips (part, place, tailnum)")
        db.execute("CREATE TABLE IF NOT EXISTS done (batch INTEGER PRIMARY KEY)")
        db.execute("INSERT INTO done VALUES (?)", (number,))
        db.executemany("INSERT INTO trips VALUES (?, ?, ?)", rows_of(batch))


query = until_done(start_trips, save, "keyed", kill_in=1, book=keyed)


# %% tags=["wrong"]
# what came already, in memory | in memory (`seen`)
seen = set()


def save(batch, number):
    new = [row for row in rows_of(batch) if row not in seen]
    seen.update(new)
    with keyed.open() as db:
        db.execute("CREATE TABLE IF NOT EXISTS trips (part, place, tailnum)")
        db.executemany("INSERT INTO trips VALUES (?, ?, ?)", new)


query = until_done(start_trips, save, "keyed", kill_in=1, book=keyed)


# %% tags=["wrong"]
# a key that is new each time | is another one each time
def save(batch, number):
    from uuid import uuid4

    with keyed.open() as db:
        db.execute("CREATE TABLE IF NOT EXISTS trips (id PRIMARY KEY, part, place, tailnum)")
        rows = [(str(uuid4()), *row) for row in rows_of(batch)]
        db.executemany("INSERT OR IGNORE INTO trips VALUES (?, ?, ?, ?)", rows)


query = until_done(start_trips, save, "keyed", kill_in=1, book=keyed)


# %% tags=["wrong"]
# the offset alone | stand for more than one departure
def save(batch, number):
    with keyed.open() as db:
        db.execute("CREATE TABLE IF NOT EXISTS trips (part, place PRIMARY KEY, tailnum)")
        db.executemany("INSERT OR IGNORE INTO trips VALUES (?, ?, ?)", rows_of(batch))


query = until_done(start_trips, save, "keyed", kill_in=1, book=keyed)


# %% tags=["wrong"]
# the batch's number in a transaction of its own, and nobody asks for it | so are rows of the table `log`
def save(batch, number):
    with keyed.open() as db:
        db.execute("CREATE TABLE IF NOT EXISTS trips (part, place, tailnum)")
        db.execute("CREATE TABLE IF NOT EXISTS log (batch)")
        db.execute("INSERT INTO log VALUES (?)", (number,))
    with keyed.open() as db:
        db.executemany("INSERT INTO trips VALUES (?, ?, ?)", rows_of(batch))


query = until_done(start_trips, save, "keyed", kill_in=1, book=keyed)


# %% tags=["right"]
# the batch's number, in the same transaction
def save(batch, number):
    with keyed.open() as db:
        db.execute("CREATE TABLE IF NOT EXISTS trips (part, place, tailnum)")
        db.execute("CREATE TABLE IF NOT EXISTS done (batch INTEGER PRIMARY KEY)")
        if db.execute("INSERT OR IGNORE INTO done VALUES (?)", (number,)).rowcount:
            db.executemany("INSERT INTO trips VALUES (?, ?, ?)", rows_of(batch))


query = until_done(start_trips, save, "keyed", kill_in=1, book=keyed)

# %% tags=["nbval-check-output"]
lab.check.each_once(query)

# %% [markdown]
# Either way is right. Whoever notes only the number of a batch should know: with a new checkpoint, batch 0 would be done already, and its records lost. So the query's `id` belongs beside it; it stands in the file `metadata` of the checkpoint.

# %% [markdown] covers="A059 E287" explains="processing.guarantee"
# ## From Kafka to Kafka
#
# A topic has no primary key. Lab 11 had another way: results and offsets in one transaction of Kafka. Kafka Streams does it with one setting, `processing.guarantee=exactly_once_v2` (`exactly_once`, without *v2*, is gone). It is the easiest exactly once there is, as long as all stays inside Kafka. And Spark?
#
# The next sink writes each batch with Spark's own sink for Kafka. The key of a record is its place in `exact-trips`. Spark is killed when batch 1 has been acknowledged. How many records will be in `exact-copies`?

# %%
guess_15b = lab.predict("15.b")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_15b.choose("883")
# END SOLUTION

# %% tags=["needed"]
from threebrokers.kafka.log_reader import read_log
from threebrokers.spark import until_done

copies = lab.fresh_topic("exact-copies", partitions=3, replication_factor=3)


def send(batch, number):
    """Write the departures of a batch to `exact-copies`."""
    name = F.concat_ws("-", "partition", "offset").alias("key")
    rows = batch.select(name, F.to_json(F.struct("scheduled", "tailnum", "origin")).alias("value"))
    writer = rows.write.format("kafka").option("kafka.bootstrap.servers", lab.bootstrap)
    writer.option("topic", copies).save()


until_done(start_trips, send, "copies", kill_in=1)
written = [record.key for record in read_log(lab.bootstrap, copies)]
print(f"{len(written):,} records, {len(set(written))} different keys")
guess_15b.compare("fewer" if len(set(written)) < 883 else "883" if len(written) == 883 else "about 1,180")

# %% [markdown]
# Spark's sink for Kafka uses no transactions: **at least once**. An idempotent producer does not help: it knows a request that it sends again itself, and here another producer sends, started after the first one's death.
#
# So whoever reads must know what came already. `dropDuplicatesWithinWatermark(columns)` (lab 14) drops copies, and forgets a value when the watermark has passed its time by the delay; `dropDuplicates(columns)` remembers each value for ever. What it remembers is state, kept in the checkpoint: a restart does not forget it.

# %% [markdown]
# ### Exercise 15.3: Drop the second copy
#
# `received` is the stream of `exact-copies`, in small batches: `id` (the record's key), `timestamp` (when it was written), `tailnum`, `origin` and `scheduled`. Make `query`: its table `once` holds each departure once. How long must it remember an id? A second copy comes when Spark runs again, and the longest time that Spark was ever away was a weekend: 60 hours, and then it had to start.

# %%
from threebrokers.spark import start_query, watch_query


def copies_received():
    """The stream of `exact-copies`: its keys, times and flights."""
    reader = session().readStream.format("kafka").option("kafka.bootstrap.servers", lab.bootstrap)
    reader = reader.options(subscribe=copies, startingOffsets="earliest", maxOffsetsPerTrigger=400, **QUICK)
    name = F.col("key").cast("string").alias("id")
    return flight_columns(reader.load().withColumn("id", name), "id", "timestamp")


received = copies_received().select("id", "timestamp", "tailnum", "origin", "scheduled")
# TODO: drop what came before; query = start_query(…, "append", "once"); then watch_query(query)
# BEGIN SOLUTION
once = received.withWatermark("timestamp", "3 days").dropDuplicatesWithinWatermark(["id"])
query = start_query(once, "append", "once")
watch_query(query)
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# Which column is the same in both copies of a departure, and in no other record? Which time tells how far apart the copies can be, and what decides that?
#
# </details>
# <details><summary>Another hint</summary>
#
# `withWatermark(column, "… hours")` stands before the call that drops duplicates, and says for how long that must remember.
#
# </details>

# %% tags=["wrong"]
# for ever | remembers every id for ever
query = start_query(received.dropDuplicates(["id"]), "append", "once")
watch_query(query)

# %% tags=["wrong"]
# as long as a batch takes | 10 minutes is too short
once = received.withWatermark("timestamp", "10 minutes").dropDuplicatesWithinWatermark(["id"])
query = start_query(once, "append", "once")
watch_query(query)

# %% tags=["wrong"]
# to the hour | has to start and read again
once = received.withWatermark("timestamp", "60 hours").dropDuplicatesWithinWatermark(["id"])
query = start_query(once, "append", "once")
watch_query(query)

# %% tags=["wrong"]
# a month, to be safe | 30 days keeps
once = received.withWatermark("timestamp", "30 days").dropDuplicatesWithinWatermark(["id"])
query = start_query(once, "append", "once")
watch_query(query)

# %% tags=["wrong"]
# the call that remembers for ever, behind a watermark | takes no notice of it
query = start_query(received.withWatermark("timestamp", "3 days").dropDuplicates(["id"]), "append", "once")
watch_query(query)

# %% tags=["wrong"]
# the aircraft | departures are gone
once = received.withWatermark("timestamp", "3 days").dropDuplicatesWithinWatermark(["tailnum"])
query = start_query(once, "append", "once")
watch_query(query)

# %% tags=["wrong"]
# what no two departures of the day have in common | what a copy is, and not the id
once = received.withWatermark("timestamp", "3 days").dropDuplicatesWithinWatermark(["tailnum", "scheduled"])
query = start_query(once, "append", "once")
watch_query(query)

# %% tags=["wrong"]
# with the time of the copy | departures are there twice
once = received.withWatermark("timestamp", "3 days").dropDuplicates(["id", "timestamp"])
query = start_query(once, "append", "once")
watch_query(query)

# %% tags=["wrong"]
# by the clock of the plan | the watermark follows
once = received.withWatermark("scheduled", "1 hour").dropDuplicatesWithinWatermark(["id"])
query = start_query(once, "append", "once")
watch_query(query)

# %% tags=["wrong"]
# a set in Python | the query keeps no state
seen = set()


def clean(batch, number):
    seen.update(row.id for row in batch.collect())


checkpoint = fresh_folder("once")
writer = received.writeStream.foreachBatch(clean).queryName("once").trigger(availableNow=True)
query = writer.option("checkpointLocation", checkpoint).start()
watch_query(query)

# %% tags=["right"]
# without the second half of the name
once = received.withWatermark("timestamp", "61 hours").dropDuplicatesWithinWatermark(["id", "tailnum"])
query = start_query(once, "append", "once")
query.awaitTermination(60)

# %% tags=["nbval-check-output"]
lab.check.second_copy_dropped(query)

# %% [markdown] covers="A075 D197 E300 E301 E302" explains="reprocessing, kafka-streams-application-reset"
# ## When the query itself is wrong
#
# Each departure that was late by two hours or more **should** get a voucher. Version 1 of a query writes vouchers into `exact-late-v1`, and an office reads them. Only now somebody notices its condition, `dep_delay > 120`: a delay of exactly two hours gets nothing.
#
# The raw departures are still in the topic, so the past can be computed again: **reprocessing**. There are two ways. *In place*: stop the query, delete its results and its checkpoint, start the new version; while it catches up, nobody has results, and if it is wrong too, nothing is left. (For Kafka Streams, the tool is `kafka-streams-application-reset`.) *Beside it*: version 2 runs with a place and a topic of its own, from the earliest offset; when it has caught up, you compare, and the readers change over.


# %%
spark = session()  # from here on use `spark`: each call of session() stops the queries that run


def vouchers(rule, source, topic, checkpoint):
    """A query, not started yet, that sends the departures for which `rule` is true, keyed by their place."""
    reader = spark.readStream.format("kafka").option("kafka.bootstrap.servers", lab.bootstrap)
    reader = reader.options(subscribe=source, startingOffsets="earliest", maxOffsetsPerTrigger=600, **QUICK)
    late = flight_columns(reader.load(), "partition", "offset").where(rule)
    name, delay = F.concat_ws("-", "partition", "offset").alias("key"), F.col("dep_delay").cast("string")
    writer = late.select(name, delay.alias("value")).writeStream.format("kafka")
    writer = writer.option("kafka.bootstrap.servers", lab.bootstrap).option("topic", lab.topic(topic))
    return writer.option("checkpointLocation", checkpoint)


for name in ("exact-late-v1", "exact-late-v2"):
    lab.fresh_topic(name, partitions=3, replication_factor=3)
first = vouchers("dep_delay > 120", trips, "exact-late-v1", fresh_folder("v1"))
watch_query(first.trigger(availableNow=True).start())
print(len(read_log(lab.bootstrap, lab.topic("exact-late-v1"))), "vouchers of version 1")

# %% [markdown]
# A colleague starts the new condition, from the earliest offset, with the checkpoint of version 1. How many vouchers does it write into `exact-late-v2`? (This works on a copy of the checkpoint.)

# %%
guess_15c = lab.predict("15.c")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_15c.choose("the three that are missing")
# END SOLUTION

# %%
import shutil

copied = shutil.copytree(folder("v1"), fresh_folder("colleague"), dirs_exist_ok=True)
second = vouchers("dep_delay >= 120", trips, "exact-late-v2", str(copied))
watch_query(second.trigger(availableNow=True).start())
written = len(read_log(lab.bootstrap, lab.topic("exact-late-v2")))
print(written, "vouchers of version 2")
guess_15c.compare("none" if written == 0 else "all 155" if written > 100 else "the three that are missing")

# %% [markdown]
# The checkpoint says that all is read, and it overrules `startingOffsets`. The condition is not part of it: Spark does not notice that the query is another one.

# %% [markdown]
# ### Exercise 15.4: Version 2 beside version 1
#
# Everything begins again, on a day that goes on: 600 departures are in `exact-live`, and others come in while you work. `live_day` starts version 1 and the office, calls your function, lets the rest of the day come in, and stops all.
#
# Write `change_over(old, office)`. Start version 2 beside `old`, the query of version 1: exactly two hours get a voucher, too. `vouchers(…)` is not started yet; `.start()` without a trigger starts a query that goes on, where `availableNow` would end it too early. `until_caught_up(new)` waits until it has read what is there. Then compare the two, for yourself (`keys_of_both`). `office.reads(topic)` names the topic that the office reads from then on; it sends a voucher for each key once. Then `old.stop()`. Leave the topic and the checkpoint of version 1 as they are: they are your way back.

# %%
from threebrokers.spark import keys_of_both, live_day, until_caught_up

for name in ("exact-late-v1", "exact-late-v2", "exact-live"):
    live = lab.fresh_topic(name, partitions=3, replication_factor=3)
version_1 = vouchers("dep_delay > 120", live, "exact-late-v1", fresh_folder("v1"))


# TODO: def change_over(old, office): start version 2, until_caught_up(…), keys_of_both(…), change over
# day = live_day(lab, live, version_1, change_over)
# BEGIN SOLUTION
def change_over(old, office):
    """Bring the office from version 1 to version 2."""
    new = vouchers("dep_delay >= 120", live, "exact-late-v2", fresh_folder("v2")).start()
    until_caught_up(new)
    before, after = keys_of_both(lab, {"exact-late-v1": old, "exact-late-v2": new})
    print(f"{len(after - before)} new vouchers, {len(before - after)} would be lost")
    office.reads("exact-late-v2")
    old.stop()


day = live_day(lab, live, version_1, change_over)
print(day)
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# Three things belong to a version: its condition, the place it has reached, and where its results go. Which may the two share? And what would the office miss if one of them ended too early?
#
# </details>
# <details><summary>Another hint</summary>
#
# `fresh_folder(name)` is an empty checkpoint. `until_caught_up(new)` does not stop the query. `keys_of_both(lab, {"exact-late-v1": old, "exact-late-v2": new})` gives two sets: one version is always a little ahead, so it compares the departures that both have read.
#
# </details>


# %% tags=["wrong"]
# the same checkpoint | has gone on with the checkpoint of version 1
def change_over(old, office):
    new = vouchers("dep_delay >= 120", live, "exact-late-v2", str(folder("v1"))).start()
    until_caught_up(new)
    office.reads("exact-late-v2")


day = live_day(lab, live, version_1, change_over)


# %% tags=["wrong"]
# into the old topic | is not as version 1 has left it
def change_over(old, office):
    new = vouchers("dep_delay >= 120", live, "exact-late-v1", fresh_folder("v2")).start()
    until_caught_up(new)
    old.stop()


day = live_day(lab, live, version_1, change_over)


# %% tags=["wrong"]
# nobody changes over | the office still reads
def change_over(old, office):
    new = vouchers("dep_delay >= 120", live, "exact-late-v2", fresh_folder("v2")).start()
    until_caught_up(new)
    old.stop()


day = live_day(lab, live, version_1, change_over)


# %% tags=["wrong"]
# in place | the checkpoint of version 1 is gone
def change_over(old, office):
    new = vouchers("dep_delay >= 120", live, "exact-late-v2", fresh_folder("v1")).start()
    until_caught_up(new)
    office.reads("exact-late-v2")


day = live_day(lab, live, version_1, change_over)


# %% tags=["wrong"]
# from another topic | version 2 reads
def change_over(old, office):
    new = vouchers("dep_delay >= 120", trips, "exact-late-v2", fresh_folder("v2")).start()
    until_caught_up(new)
    office.reads("exact-late-v2")
    old.stop()


day = live_day(lab, live, version_1, change_over)


# %% tags=["wrong"]
# the same fault again | a delay of exactly two hours
def change_over(old, office):
    new = vouchers("dep_delay > 120", live, "exact-late-v2", fresh_folder("v2")).start()
    until_caught_up(new)
    office.reads("exact-late-v2")
    old.stop()


day = live_day(lab, live, version_1, change_over)


# %% tags=["wrong"]
# the readers first | was not ready when the office changed over
def change_over(old, office):
    office.reads("exact-late-v2")
    old.stop()
    until_caught_up(vouchers("dep_delay >= 120", live, "exact-late-v2", fresh_folder("v2")).start())


day = live_day(lab, live, version_1, change_over)


# %% tags=["wrong"]
# one after the other | ended before the office changed over
def change_over(old, office):
    old.stop()
    until_caught_up(vouchers("dep_delay >= 120", live, "exact-late-v2", fresh_folder("v2")).start())
    office.reads("exact-late-v2")


day = live_day(lab, live, version_1, change_over)


# %% tags=["wrong"]
# both go on | version 1 still ran
def change_over(old, office):
    until_caught_up(vouchers("dep_delay >= 120", live, "exact-late-v2", fresh_folder("v2")).start())
    office.reads("exact-late-v2")


day = live_day(lab, live, version_1, change_over)


# %% tags=["right"]
# said otherwise
def change_over(old, office):
    new = vouchers("dep_delay > 119", live, "exact-late-v2", fresh_folder("version-2")).start()
    until_caught_up(new)
    office.reads("exact-late-v2")
    old.stop()
    old.awaitTermination(60)


day = live_day(lab, live, version_1, change_over)

# %% tags=["nbval-check-output"]
lab.check.changed_over(day)

# %% [markdown]
# The new topic began with vouchers that the office had sent already. Their keys are the same in both topics, so it left them out; a reader that cannot know what it has done would do it twice. (A board, which shows a whole table, simply changes over.)

# %% [markdown]
# ## What to remember
#
# - What is written and not committed is written again: Spark repeats the same batch, so a sink gets rows at least once.
# - A key for each row, or the numbers of query and batch in the same transaction, makes the second time harmless; into Kafka, the reader drops copies by a key of the record.
# - Keep the raw records, and run a new version beside the old one, with its own checkpoint and its own output; then change over the readers, who must know what they have done.
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

# %% [markdown] explains="end-to-end latency, percentile"
# ### How long is a record on its way?
#
# From the producer, through Spark, to a consumer: that time is the **end-to-end latency**. One number is not enough for it. Half of the records are quicker than p50, and 99 of a hundred are quicker than p99: these are **percentiles**.
#
# The query below writes the delay of each departure into another topic. Which trigger brings them most quickly?
#
# - none: a batch begins as soon as the one before has ended,
# - `processingTime="1 second"`: a batch begins each second, or as soon as a longer one has ended,
# - `realTime="5 seconds"`: a batch lasts five seconds.
#
# Each gets the same departures, 50 in a second.

# %%
sent = lab.fresh_topic("exact-sent", partitions=2, replication_factor=3)
arrived = lab.fresh_topic("exact-arrived", partitions=1, replication_factor=3)
triggers = {
    "no trigger": {},
    "1 second": {"processingTime": "1 second"},
    "real time, 5 seconds": {"realTime": "5 seconds"},
}


def start_delays(trigger, checkpoint):
    """Start a query that sends the delay of each departure in `sent` to `arrived`."""
    reader = session().readStream.format("kafka").option("kafka.bootstrap.servers", lab.bootstrap)
    flights = flight_columns(reader.options(subscribe=sent, **QUICK).load(), "key")
    rows = flights.select("key", F.col("dep_delay").cast("string").alias("value"))
    writer = rows.writeStream.format("kafka").option("kafka.bootstrap.servers", lab.bootstrap)
    writer = writer.option("topic", arrived).option("checkpointLocation", checkpoint).outputMode("update")
    return writer.trigger(**trigger).start() if trigger else writer.start()


# %%
guess_15d = lab.predict("15.d")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_15d.choose("no trigger")
# END SOLUTION

# %%
from threebrokers.spark import measure_latency

latencies = measure_latency(lab, (sent, arrived), start_delays, triggers)
guess_15d.compare(latencies.quickest)
latencies

# %% [markdown] explains="real-time mode, task slot"
# A micro-batch is planned, noted in `offsets`, run as new tasks, and noted in `commits`: that costs its time however few records it has, and a record waits for the batch before its own to end, too. (Without the setting in `QUICK`, and with no trigger, a record behind which no other comes would wait half a second more: measured. Each trigger had 100 records, in one run: p99 rests on one of them, and another run gives another.)
#
# In **real-time mode** a task lives for the whole interval, and hands on every record at once. At its end the tasks stop, the checkpoint is written, and new ones start: a record that comes just then waits. So in production intervals are minutes (Spark's own default: five); less than five seconds is refused. Our 100 records take two seconds, and may meet no such moment.
#
# | real-time mode (Spark 4.2) | |
# |---|---|
# | what it can | queries without state, `outputMode("update")`, sinks like Kafka; no `maxOffsetsPerTrigger` |
# | what it needs | a **task slot** for each partition, for as long as it runs: with three partitions, `local[2]` never reads the third one, and says nothing |
# | after a crash | up to one whole interval comes again: at least once |
#
# How the size of a batch changes its time is [measured](../docs/scaling.md), too.

# %% [markdown]
# ### Exercise 15.5: A trigger for each
#
# Three queries read the departures. Choose a trigger for each: make `choice`, a dictionary like `triggers`, with the names
#
# - `alarm`: each departure that is over two hours late, at once;
# - `board`: the delay of each departure, for a screen that reads the topic once a second; what comes sooner is of no use, and each batch costs;
# - `counts`: departures of each airport so far, as fresh as Spark can.

# %%
# TODO: choice = {"alarm": {…}, "board": {…}, "counts": {…}}
# BEGIN SOLUTION
choice = {"alarm": {"realTime": "5 seconds"}, "board": {"processingTime": "1 second"}, "counts": {}}
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# Which of the three queries keeps something between two records? And for which of them is sooner no better?
#
# </details>
# <details><summary>Another hint</summary>
#
# The table above says what real-time mode takes and what its interval means. No trigger at all is `{}`, and is also a choice.
#
# </details>

# %% tags=["wrong"]
# the quickest for all | counts need state
choice = {name: {"realTime": "5 seconds"} for name in ("alarm", "board", "counts")}

# %% tags=["wrong"]
# the interval as a latency | Spark refuses an interval
choice = {"alarm": {"realTime": "10 milliseconds"}, "board": {"processingTime": "1 second"}, "counts": {}}

# %% tags=["wrong"]
# micro-batches everywhere | an alarm waits for a batch
choice = {"alarm": {}, "board": {"processingTime": "1 second"}, "counts": {}}

# %% tags=["wrong"]
# as quick as possible for the board, too | more batches than anybody looks at
choice = {"alarm": {"realTime": "5 seconds"}, "board": {}, "counts": {}}

# %% tags=["wrong"]
# counts each second | fresher without a pause
choice = {
    "alarm": {"realTime": "5 seconds"},
    "board": {"processingTime": "1 second"},
    "counts": {"processingTime": "1 second"},
}

# %% tags=["right"]
# said otherwise
choice = {
    "counts": {"processingTime": "0 seconds"},
    "board": {"processingTime": "1000 milliseconds"},
    "alarm": {"realTime": "1 minute"},
}

# %% tags=["nbval-check-output"]
lab.check.trigger_for_each(choice)

# %% [markdown] explains="standalone cluster, driver, executor"
# ### On a cluster of two workers
#
# So far all of Spark was one process, with two threads (`local[2]`). On a **standalone cluster** a master knows the workers; each worker starts an **executor** for your session, a process that runs the tasks of its queries. The **driver**, which belongs to your notebook, plans the batches. `workers_up` starts a master and two workers with one core each, and tells the master's address. (In a terminal: `threebrokers spark up`.)
#
# The next query writes, for each departure, which process has read it, by its process id.

# %% tags=["needed"]
from collections import Counter

from threebrokers.spark import workers_down, workers_up


def all_trips(spark, **options):
    """A stream of all departures: place, and the process that read it."""
    reader = spark.readStream.format("kafka").option("kafka.bootstrap.servers", lab.bootstrap)
    records = reader.options(**{"subscribe": trips, "startingOffsets": "earliest"} | QUICK | options).load()
    process = F.expr("reflect('java.lang.ProcessHandle', 'current')").alias("value")
    return records.select(F.concat_ws("-", "partition", "offset").alias("key"), process)


def start_copy(rows, topic, checkpoint):
    """Start a query that sends these rows to `topic`, up to the present end."""
    writer = rows.writeStream.format("kafka").option("kafka.bootstrap.servers", lab.bootstrap)
    writer = writer.option("topic", topic).option("checkpointLocation", checkpoint)
    return writer.trigger(availableNow=True).start()


here = lab.fresh_topic("exact-here", partitions=3, replication_factor=3)
watch_query(start_copy(all_trips(session()), here, fresh_folder("here")))
Counter(record.value for record in read_log(lab.bootstrap, here))

# %% [markdown]
# ### Exercise 15.6: The same on two workers
#
# `here` was written on this machine alone. Run the same query on the cluster: it should write all 883 departures into `there`, each once, and both executors should have read. `session(master)` is the session on a cluster; what was made with the session before is gone with it. `query` is the query, ended.

# %%
there = lab.fresh_topic("exact-there", partitions=3, replication_factor=3)
master = workers_up()
# TODO: start the query on the cluster, watch it, and count who has read
# BEGIN SOLUTION
query = start_copy(all_trips(session(master)), there, fresh_folder("there"))
watch_query(query)
print(Counter(record.value for record in read_log(lab.bootstrap, there)))
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# Which part of the line that wrote `here` says where Spark runs, which one where it goes on, and which one where its results go?
#
# </details>
# <details><summary>Another hint</summary>
#
# `session()` without an address is always Spark on this machine. `fresh_folder(name)` is an empty checkpoint.
#
# </details>

# %% tags=["wrong"]
# without an address | the driver's own process
query = start_copy(all_trips(session()), there, fresh_folder("there"))
watch_query(query)

# %% tags=["wrong"]
# the checkpoint of the first run | 'exact-there' holds nothing
query = start_copy(all_trips(session(master)), there, str(folder("here")))
watch_query(query)

# %% tags=["wrong"]
# all in one piece, for the order | one executor
query = start_copy(all_trips(session(master)).coalesce(1), there, fresh_folder("there"))
watch_query(query)

# %% tags=["wrong"]
# on this machine first, to compare | departures are there twice
watch_query(start_copy(all_trips(session()), there, fresh_folder("first")))
query = start_copy(all_trips(session(master)), there, fresh_folder("there"))
watch_query(query)

# %% tags=["right"]
# in smaller pieces
query = start_copy(all_trips(session(master), minPartitions="6"), there, fresh_folder("elsewhere"))
query.awaitTermination(60)

# %% tags=["nbval-check-output"]
lab.check.on_two_workers(query)

# %% [markdown]
# Which executor has read which partition? Each record's key begins with its partition, and its value is the process that read it:

# %%
records = read_log(lab.bootstrap, there)
readers = Counter((record.key.split(b"-")[0].decode(), record.value.decode()) for record in records)
for (partition, process), count in sorted(readers.items()):
    print(f"partition {partition}: process {process} has read {count} records of it")

# %% [markdown]
# Each partition is a task of its own. There are three, and two executors with a core each: one has read two of them.
#
# | | `local[2]` | on a cluster |
# |---|---|---|
# | who reads the brokers | the one process | the executors, each its partitions: all machines must reach all brokers |
# | where `foreachBatch` runs | in your notebook | the function in the driver; what it asks of the batch, in the executors. `collect()`, as in `rows_of`, brings all rows to the driver: right for 300, not for a million |
# | the checkpoint | a folder | storage that all machines reach: executors write state there, and another driver goes on from it. It must rename a file at once or not at all (HDFS; for S3, Spark's own checkpoint manager, `spark.sql.streaming.checkpointFileManagerClass`) |
# | jars and Python | yours | the same on each machine |
# | a process dies | Spark is gone | an executor: its tasks run again, on another one. The driver: the query is gone until something starts it again (Kubernetes, systemd) |
#
# For 883 records the cluster is slower: executors are started first, and each task is sent to them. Here the folder does for all, because both workers are on your machine. On two machines, each would write its state into a folder of its own, and a restart would not find it.
#
# Now a worker is killed in the middle, with its executor. Reading is slow this time, 6 ms a record.

# %%
from threebrokers.spark import kill_reader

there = lab.fresh_topic("exact-there", partitions=3, replication_factor=3)
slowly = F.expr("reflect('java.lang.Thread', 'sleep', CAST(6 AS BIGINT))")
rows = all_trips(session(workers_up())).withColumn("value", F.concat_ws(" ", "value", slowly))
query = start_copy(rows, there, fresh_folder("killed"))
kill_reader(lab, there)
watch_query(query)
written = [record.key for record in read_log(lab.bootstrap, there)]
print(f"{len(written):,} records, {len(set(written))} different departures")
lab.observed("Nothing is missing, and some departures came twice", len(set(written)) == 883 < len(written))

# %% [markdown]
# The driver gave the dead executor's tasks to the other one, from their first record. The query has not ended and made no second batch, and its topic holds records twice all the same: what you have built for Spark's death is needed for this, too.
#
# `workers_down` ends the cluster; Spark on this machine is back with the next `session()`.

# %% tags=["needed"]
workers_down()

# %% [markdown]
# Compare with [the solution](../solutions/15_spark_exactly_once.ipynb). This is the last lab for now.
