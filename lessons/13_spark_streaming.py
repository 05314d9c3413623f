# %% [markdown]
# # What time is it in a stream?
#
# **You will** count a stream by the time in its records, decide how long a query waits for late records, and let it stop and go on without counting twice.
#
# *{minutes} minutes, and {further} more if you go further. You need lab 12: `flight_columns`, checkpoint, `availableNow`. The lab has two halves, with a place to pause.*

# %%
from threebrokers import open_lab

lab = open_lab("13")

# %% [markdown]
# Three questions from earlier labs, to see what is still there:

# %%
lab.review()

# %% [markdown] covers="A058 D010 D026 D194 D199 B003" explains="Structured Streaming, micro-batch"
# ## A table without an end
#
# Payments, parcels, sensors, departures: a **stream** has no end. Lab 12 asked the past; now the answer must grow while records come. **Structured Streaming** is Spark's part for this. (Flink and Kafka Streams do the same work; Storm and Spark's older DStreams are hardly used any more.) You write nearly what you wrote for a batch: `readStream` for `read`. The result is a DataFrame again, over all partitions of the topic, however many there are.
#
# Spark runs such a query in **micro-batches**: note what is new, read it, add it to the result, again. `start_query` uses the trigger `availableNow`: it goes on to the end that the topic has now, and ends. So the same query can run all day, or for a minute each night. What makes it a stream is its memory: at least of its place, often of results. A job that reads 500 records at 2 a.m. and forgets where it stopped is no stream. (A consumer in a loop is stream processing too: it needs no framework.)
#
# Our stream: the 883 flights that were planned for 24 June 2013 and left. Many of these were late. They are in one partition, in the order in which they **really left**. Each record's own time is the moment in which it is written, today.

# %%
from pyspark.sql import functions as F

from threebrokers.data import late_departures, replay_topic
from threebrokers.spark import flight_columns, folder, fresh_folder, session, start_query, watch_query

spark = session()
june = replay_topic(lab, "stream-departures")
flights = late_departures()
late = (flights["dep_delay"] > 60).mean()
print(f"{len(flights):,} departures are in {june}; {late:.0%} of them left more than an hour late")

# %% [markdown]
# How many of these records come **out of order**: behind a flight that was planned for a later time?

# %%
guess_13a = lab.predict("13.a")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_13a.choose("one in three")
# END SOLUTION

# %%
planned = flights["scheduled"]
share = (planned < planned.cummax()).mean()
print(f"{share:.0%} come behind a flight that was planned for later")
guess_13a.compare("two in three" if share > 0.5 else "one in three" if share > 0.2 else "one in ten")

# %% [markdown] covers="D195 D200 D201 D202 E285" explains="processing time"
# ## Which clock counts?
#
# In an account, *deposit, then spend* is another story than *spend, then deposit*: events have an order, and it is not always that in which they come. So, which time counts? You know two clocks from lab 02; a query has a third.
#
# | clock | what it tells | where it is |
# |---|---|---|
# | **event time** | when it happened: here, the time for which the flight was planned | inside the value: `scheduled` |
# | time of the record | when the producer wrote it, or, with `message.timestamp.type=LogAppendTime`, when the broker stored it: the **log append time** | `timestamp` |
# | **processing time** | when Spark reads it | `F.current_timestamp()` |
#
# Only the first belongs to the flight itself. Processing time is another one each time you read. The record's time stays as it is in this topic, but it says when somebody wrote: write the flights again next week, as this lab does today, and it is another one. Kafka Streams asks a class, the `TimestampExtractor`, for it; in Spark it is a column like any other.
#
# `departures` gives the stream of a topic: the record's `timestamp` and the columns of the flight.


# %%
def departures(topic, **options):
    """A stream of a topic's departures, from its start."""
    reader = spark.readStream.format("kafka").option("kafka.bootstrap.servers", lab.bootstrap)
    reader = reader.option("subscribe", topic).option("startingOffsets", "earliest")
    reader = reader.option("kafka.fetch.max.wait.ms", 10)  # instead of 500: batches end sooner (lab 12)
    return flight_columns(reader.options(**options).load(), "timestamp")


stream = departures(june)
print("A stream?", stream.isStreaming)
print(*stream.columns)

# %% [markdown] explains="window"
# To count by time, a time is put into a **window**. `F.window("born", "1 day")` is a column with two fields, the `start` and the `end` of the day, in UTC. Group by it as by any column.
#
# `start_query(counts, "complete", "hours")` starts a query that keeps its result in memory, as a table with the name `hours`. (What `"complete"` means is explained in the second half.) `watch_query` waits for the query's end, and draws what it did. Each call of `start_query` begins with an empty checkpoint: try as often as you like.

# %% [markdown]
# ### Exercise 13.1: Hours of the plan
#
# How many flights were planned for each hour, at each airport? Make `query`: it counts `stream`, in windows of one hour. Its table has the columns `window`, `origin` and `count`.

# %%
stream = departures(june)
# TODO: count the stream; start it: query = start_query(counts, "complete", "hours"); then watch_query(query)
# BEGIN SOLUTION
counts = stream.groupBy(F.window("scheduled", "1 hour"), "origin").count()
query = start_query(counts, "complete", "hours")
watch_query(query)
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# The stream has two columns with a time, and Spark has a clock of its own. Which of the three would be the same if the departures were written and read again next week?
#
# </details>
# <details><summary>Another hint</summary>
#
# `groupBy` takes the window and a name; `count()` counts rows and calls its column `count`. Look at the result with `spark.table("hours").orderBy("window").show(5, False)`.
#
# </details>

# %% tags=["wrong"]
# the record's own time | that is when the records were written
counts = stream.groupBy(F.window("timestamp", "1 hour"), "origin").count()
query = start_query(counts, "complete", "hours")
watch_query(query)

# %% tags=["wrong"]
# Spark's clock | that is when Spark read them
counts = stream.groupBy(F.window(F.current_timestamp(), "1 hour"), "origin").count()
query = start_query(counts, "complete", "hours")
watch_query(query)

# %% tags=["wrong"]
# when it really left | in the hour in which it really left
left = F.expr("scheduled + make_interval(0, 0, 0, 0, 0, dep_delay, 0)")
counts = stream.groupBy(F.window(left, "1 hour"), "origin").count()
query = start_query(counts, "complete", "hours")
watch_query(query)

# %% tags=["wrong"]
# the hour of the day | has no column `window`
counts = stream.groupBy(F.hour("scheduled").alias("hour"), "origin").count()
query = start_query(counts, "complete", "hours")
watch_query(query)

# %% tags=["wrong"]
# days | a window is 1440 minutes long
counts = stream.groupBy(F.window("scheduled", "1 day"), "origin").count()
query = start_query(counts, "complete", "hours")
watch_query(query)

# %% tags=["wrong"]
# no airports | has no column `origin`
counts = stream.groupBy(F.window("scheduled", "1 hour")).count()
query = start_query(counts, "complete", "hours")
watch_query(query)

# %% tags=["wrong"]
# by airline, too | for an airport and window that another row is for
counts = stream.groupBy(F.window("scheduled", "1 hour"), "origin", "carrier").count()
query = start_query(counts, "complete", "hours")
watch_query(query)

# %% tags=["right"]
# what has changed in the one batch is everything
counts = stream.groupBy("origin", F.window(F.col("scheduled"), "60 minutes")).agg(F.count("*").alias("count"))
query = start_query(counts, "update", "hours")
query.awaitTermination(60)

# %% tags=["nbval-check-output"]
lab.check.hours_of_the_plan(query)

# %% [markdown] covers="A019 D212" explains="watermark, state, withWatermark"
# ## How long to wait?
#
# Sensors that were out of reach send all they have when the connection returns; flights leave hours after their plan. When is an hour complete? Nobody tells the query. If it waits for ever, it must keep every window for ever: these rows are its **state**. And nobody ever gets a final number.
#
# So you decide. `withWatermark("scheduled", "1 hour")` says: after a batch, look at the latest event time so far, and subtract an hour. This is the **watermark**. A window whose end the watermark has reached is finished: its row is written, and leaves the state. A flight that comes for it after that is **dropped**.
#
# The option `maxOffsetsPerTrigger=60` makes batches of 60 records, about one hour of real traffic each. The next cell finishes each window once (the mode `append`, explained below), with a watermark of one hour. Remember how many flights left more than an hour late. How many will be dropped?

# %%
guess_13b = lab.predict("13.b")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_13b.choose("more than 20 %")
# END SOLUTION

# %%
from threebrokers.spark import missing_from

in_steps = departures(june, maxOffsetsPerTrigger=60)
one_hour = in_steps.withWatermark("scheduled", "1 hour")
watch_query(start_query(one_hour.groupBy(F.window("scheduled", "1 hour"), "origin").count(), "append", "one"))

missing, percent = missing_from(spark, "one")
print(f"{missing} flights, {percent:.1f} %, are missing in the finished hours")
guess_13b.compare("more than 20 %" if percent > 20 else "7 to 20 %" if percent > 7 else "less than 7 %")

# %% [markdown] explains="lastProgress, recentProgress"
# A flight is dropped only if its whole window is over. One planned for 10:05 is in the window that ends at 11:00. With a watermark of one hour, this window is finished when a flight planned for 12:00 has been read: 12:00 less one hour. And the watermark moves only between batches, so there is more time still. (The last batch has no records: it writes what the watermark after the one before it has finished.)
#
# The newest hours are never finished here: only a later flight moves the watermark past them. They are not dropped: their rows stay in the state, and are written when tomorrow's flights come.
#
# `missing_from` compares the finished hours with the package's own table. The picture counts fewer rows dropped: Spark adds up the flights of a batch by window first, and three late flights for one window are then one row. All numbers of the picture come from `query.recentProgress`, a list with an entry for each batch; `query.lastProgress` is the newest one.
#
# The same query again, with the same watermark of one hour, but without `maxOffsetsPerTrigger`. How many flights are dropped now?

# %%
guess_13c = lab.predict("13.c")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_13c.choose("as many")
# END SOLUTION

# %%
at_once = departures(june).withWatermark("scheduled", "1 hour")
watch_query(start_query(at_once.groupBy(F.window("scheduled", "1 hour"), "origin").count(), "append", "once"))

missing_at_once, _ = missing_from(spark, "once")
print(f"{missing_at_once} flights are missing")
fewer = "none" if missing_at_once == 0 else "fewer"
guess_13c.compare("as many" if missing_at_once >= missing else fewer)

# %% [markdown]
# A watermark promises one thing only: what comes within the hour is counted for sure. What comes later *may* be dropped, or counted. The same topic, read in other steps, gives other numbers. A first run that takes an old topic in one batch drops nothing; the same query, run hour by hour, drops flights.
#
# One watermark is for the whole stream: the latest event time is that of *all* partitions. A single record from tomorrow, by a wrong clock, finishes everybody's hours. Leave such records out before `withWatermark`.

# %% [markdown]
# ### Exercise 13.2: Wait, but not too long
#
# Which is the smallest watermark, in whole hours, that drops at most 1 % of the flights (8 of them)? Make `query`: it counts `in_steps` as above, with your watermark, and writes each hour once. The day is 15 batches, so each try takes some seconds.

# %%
in_steps = departures(june, maxOffsetsPerTrigger=60)
# TODO: choose the watermark, count, start the query as "waiting", and watch it
# BEGIN SOLUTION
patient = in_steps.withWatermark("scheduled", "3 hours")
counts = patient.groupBy(F.window("scheduled", "1 hour"), "origin").count()
query = start_query(counts, "append", "waiting")
watch_query(query)
print(missing_from(spark, "waiting"))
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# One hour drops too many, a day surely none. What lies in the middle, and how do the rows in the state change with it? `missing_from(spark, "waiting")` tells what a try has dropped, and which share in percent.
#
# </details>
# <details><summary>Another hint</summary>
#
# `withWatermark` stands before `groupBy`, and names the column that the window is made of; otherwise the watermark says nothing about your windows, and Spark complains that they have none. Halve the distance with each try.
#
# </details>

# %% tags=["wrong"]
# one hour | a watermark of 1 hour drops
counts = in_steps.withWatermark("scheduled", "1 hour").groupBy(F.window("scheduled", "1 hour"), "origin")
query = start_query(counts.count(), "append", "waiting")
watch_query(query)

# %% tags=["wrong"]
# a day | a watermark of 24 hours drops
counts = in_steps.withWatermark("scheduled", "1 day").groupBy(F.window("scheduled", "1 hour"), "origin")
query = start_query(counts.count(), "append", "waiting")
watch_query(query)

# %% tags=["wrong"]
# no watermark | has no watermark
counts = in_steps.groupBy(F.window("scheduled", "1 hour"), "origin").count()
query = start_query(counts, "update", "waiting")
watch_query(query)

# %% tags=["wrong"]
# two hours | a watermark of 2 hours drops
counts = in_steps.withWatermark("scheduled", "2 hours").groupBy(F.window("scheduled", "1 hour"), "origin")
query = start_query(counts.count(), "append", "waiting")
watch_query(query)

# %% tags=["wrong"]
# all at once | read the day in 1 batch
counts = departures(june).withWatermark("scheduled", "10 minutes")
query = start_query(counts.groupBy(F.window("scheduled", "1 hour"), "origin").count(), "append", "waiting")
watch_query(query)

# %% tags=["wrong"]
# rows that still change | writes in the mode update
counts = in_steps.withWatermark("scheduled", "3 hours").groupBy(F.window("scheduled", "1 hour"), "origin")
query = start_query(counts.count(), "update", "waiting")
watch_query(query)

# %% tags=["wrong"]
# the hours in which Kafka got them | no window was finished
counts = in_steps.withWatermark("timestamp", "3 hours").groupBy(F.window("timestamp", "1 hour"), "origin")
query = start_query(counts.count(), "append", "waiting")
watch_query(query)

# %% tags=["wrong"]
# windows of three hours | a window is 180 minutes long
counts = in_steps.withWatermark("scheduled", "10 minutes").groupBy(F.window("scheduled", "3 hours"), "origin")
query = start_query(counts.count(), "append", "waiting")
watch_query(query)

# %% tags=["wrong", "raises-exception"]
# a watermark on another clock | ended in an error
counts = in_steps.withWatermark("timestamp", "3 hours").groupBy(F.window("scheduled", "1 hour"), "origin")
query = start_query(counts.count(), "append", "waiting")

# %% tags=["right"]
# in minutes
counts = in_steps.withWatermark("scheduled", "180 minutes").groupBy("origin", F.window("scheduled", "1 hour"))
query = start_query(counts.count(), "append", "waiting")
query.awaitTermination(120)

# %% tags=["nbval-check-output"]
lab.check.wait_long_enough(query)

# %% [markdown]
# *Here is a good place for a pause. The second half needs the set-up cells and the function `departures` of the first, and nothing else.*

# %% [markdown] explains="output mode, append, update, complete"
# ## Who reads the result?
#
# A result that grows can be passed on in three ways. This is the **output mode** of a query:
#
# | mode | after each batch it writes | a row stays in the state |
# |---|---|---|
# | **append** | rows that can no longer change | until the watermark has passed its window |
# | **update** | rows that have changed | the same |
# | **complete** | all rows of the result | for ever, also with a watermark |
#
# What does Spark do with a windowed count in the mode `append`, if there is no watermark?

# %%
guess_13d = lab.predict("13.d")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_13d.choose("it writes each hour when the query ends")
# END SOLUTION

# %%
from threebrokers.spark import refusal

hourly = departures(june).groupBy(F.window("scheduled", "1 hour"), "origin").count()
said = refusal(lambda: start_query(hourly, "append", "refused"))
guess_13d.compare("it refuses" if said else "it writes nothing")
print(said)

# %% [markdown] explains="AnalysisException"
# This is an `AnalysisException`: Spark looks at the plan before it reads anything. `refusal` shows its reason only; the whole error also holds the plan.

# %% [markdown]
# ### Exercise 13.3: Three readers, three modes
#
# - The **invoice office** gets `invoices`, departures by hour and airport. It sends an invoice for each row and cannot take it back.
# - The **board** in the hall gets `board`, the same table. It shows numbers as they grow. Its line is slow: what it shows already should not be sent again.
# - The **newspaper** gets `ranking`, the airports in order of departures so far. It prints the list as it is.
#
# Give each its mode. `deliver` runs the three queries in small batches and returns what each reader got: `delivered["board"]` has its `mode`, `sent` (how many rows) and `refused` (Spark's reason, or nothing).

# %%
small = departures(june, maxOffsetsPerTrigger=300).withWatermark("scheduled", "3 hours")
hourly = small.groupBy(F.window("scheduled", "1 hour"), "origin").count()
ranking = small.groupBy("origin").count().orderBy(F.desc("count"))
tables = {"invoices": hourly, "board": hourly, "ranking": ranking}
# TODO: from threebrokers.spark import deliver; modes = {"invoices": "…", "board": "…", "ranking": "…"};
# delivered = deliver(tables, modes)
# BEGIN SOLUTION
from threebrokers.spark import deliver

modes = {"invoices": "append", "board": "update", "ranking": "complete"}
delivered = deliver(tables, modes)
for name, got in delivered.items():
    print(f"{name:9} {got.mode:9} {got.sent:4} rows sent", got.refused)
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# For each reader: what is worse, to get a row too often, to get it too late, or to get only a part? Three flights later, which of its rows are wrong?
#
# </details>
# <details><summary>Another hint</summary>
#
# A list in order changes as a whole: a new row can move all others. So Spark allows `orderBy` in one mode only. Try, and read `delivered["ranking"].refused`.
#
# </details>

# %% tags=["wrong"]
# invoices that change | times, each time with another number
from threebrokers.spark import deliver

delivered = deliver(tables, {"invoices": "update", "board": "update", "ranking": "complete"})

# %% tags=["wrong"]
# a board that waits | the newest hour on the board is
from threebrokers.spark import deliver

delivered = deliver(tables, {"invoices": "append", "board": "append", "ranking": "complete"})

# %% tags=["wrong"]
# all of it for everybody | hours: all of them again in each batch
from threebrokers.spark import deliver

delivered = deliver(tables, {"invoices": "complete", "board": "complete", "ranking": "complete"})

# %% tags=["wrong"]
# the whole board each time | the hours in which nothing had changed
from threebrokers.spark import deliver

delivered = deliver(tables, {"invoices": "append", "board": "complete", "ranking": "complete"})

# %% tags=["wrong"]
# what has moved in the ranking | Spark refuses 'update' for `ranking`
from threebrokers.spark import deliver

delivered = deliver(tables, {"invoices": "append", "board": "update", "ranking": "update"})

# %% tags=["nbval-check-output"]
lab.check.three_modes(delivered)

# %% [markdown]
# ## Stop and go on
#
# The next query writes each finished hour as a record into the topic `stream-hours`. It runs twice a day. At the end of the first run, at noon, the last hours are not finished: their flights are counted, and their rows are in its state. Then the flights of the afternoon come.
#
# `first_run` plays this: it sends the morning, runs the query to its end, then sends the afternoon. It returns the topic's name and the query, which has ended. Its checkpoint has the name `runs`; `folder("runs")` is its path.


# %%
from threebrokers.spark import first_run


def send_hours(topic, checkpoint, **options):
    """Start a query that counts departures by hour and writes finished hours into `stream-hours`."""
    late = departures(topic, **options).withWatermark("scheduled", "3 hours")
    counts = late.groupBy(F.window("scheduled", "1 hour"), "origin").count()
    name = F.concat_ws(" ", "origin", F.date_format("window.start", "dd MMM HH:mm")).alias("key")
    rows = counts.select(name, F.col("count").cast("string").alias("value"))
    writer = rows.writeStream.format("kafka").option("kafka.bootstrap.servers", lab.bootstrap)
    writer = writer.option("topic", lab.topic("stream-hours")).option("checkpointLocation", checkpoint)
    return writer.outputMode("append").trigger(availableNow=True).start()


lab.fresh_topic("stream-hours", partitions=3, replication_factor=3)
halves, first = first_run(lab, "stream-halves", send_hours, checkpoint="runs")
print(f"The first run wrote {sum(step['sink']['numOutputRows'] for step in first.recentProgress)} hours")

# %% [markdown]
# For the second run a colleague wants to be careful and gives the query a new, empty checkpoint. How many hours of an airport will be in `stream-hours` twice?

# %%
guess_13e = lab.predict("13.e")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_13e.choose("those that were open")
# END SOLUTION

# %%
from collections import Counter

from threebrokers.kafka.log_reader import read_log

watch_query(send_hours(halves, fresh_folder("careful")))

written = Counter(record.key for record in read_log(lab.bootstrap, lab.topic("stream-hours")))
twice = sum(times > 1 for times in written.values())
at_noon = sum(step["sink"]["numOutputRows"] for step in first.recentProgress)
print(f"{twice} of {len(written)} hours are there twice")
guess_13e.compare(
    "all that the first run wrote" if twice == at_noon else "those that were open" if twice else "none"
)

# %% [markdown]
# ### Exercise 13.4: The second run
#
# Everything begins again: the first run has ended, and `stream-hours` holds what it wrote. Make `query`, the second run: afterwards each finished hour is in `stream-hours` once, with the right number. Two decisions: which checkpoint, and where to start reading? (`send_hours` wants the path of a folder. It starts at the first record, unless you give it `startingOffsets="…"`.)

# %%
lab.fresh_topic("stream-hours", partitions=3, replication_factor=3)
halves, first = first_run(lab, "stream-halves", send_hours, checkpoint="runs")
# TODO: start the second run with send_hours(halves, …), and watch it
# BEGIN SOLUTION
query = send_hours(halves, folder("runs"))
watch_query(query)
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# What must the second run know besides the place where the first one stopped? Think of an hour that was open at noon.
#
# </details>
# <details><summary>Another hint</summary>
#
# `fresh_folder(name)` empties a folder; `folder(name)` only says where it is. `startingOffsets` counts only for a query whose checkpoint is empty.
#
# </details>

# %% tags=["wrong"]
# a new checkpoint | with another checkpoint knows nothing
query = send_hours(halves, fresh_folder("second"))
watch_query(query)

# %% tags=["wrong"]
# from where the first one stopped | too small, such as
query = send_hours(
    halves, fresh_folder("second"), startingOffsets=first.lastProgress["sources"][0]["endOffset"]
)
watch_query(query)

# %% tags=["wrong"]
# the folder, emptied | was emptied, and the query began again
query = send_hours(halves, fresh_folder("runs"))
watch_query(query)

# %% tags=["wrong"]
# a new checkpoint, only what comes now | not in 'stream-hours', such as
query = send_hours(halves, fresh_folder("second"), startingOffsets="latest")
watch_query(query)

# %% tags=["right"]
# an option that a checkpoint overrules
query = send_hours(halves, folder("runs"), startingOffsets="latest")
query.awaitTermination(60)

# %% tags=["nbval-check-output"]
lab.check.second_run(query)

# %% [markdown]
# Offsets alone are not enough: an hour that was open when the query stopped is partly in records that it will not read again. So a checkpoint belongs to one query. A query that groups by something else needs a new checkpoint, and begins again. Do not wait for an error: with the old checkpoint, a query with windows of ten minutes starts, and mixes them with the hours in its state. (If Spark *dies* while it writes to Kafka, records can come twice. Lab 15 is about that.)

# %% [markdown]
# ## What to remember
#
# - Count by the time inside the record. Spark's clock differs in each run; the record's own time and the order differ as soon as the records are written again.
# - A watermark is a decision: a longer one loses less, keeps more state, and gives final numbers later. Measure both.
# - The checkpoint keeps offsets and state together: it belongs to one query, and without it everything is counted again.
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

# %% [markdown] covers="B114 D177" explains="maxOffsetsBehindLatest"
# ### How far behind is it?
#
# A consumer group commits its offsets to the brokers, and every tool shows its lag. A Spark query has no group that commits: offsets and state must be saved together, or they do not fit, as you have just seen. So they are in the checkpoint, and no tool of Kafka knows them.
#
# The query tells its place itself: in each entry of `recentProgress`, a source has `endOffset` (the next offset of each partition, as JSON) and `metrics`, with `maxOffsetsBehindLatest`: how much of the worst partition this batch left for the next one. The end that it is compared with is that of the moment in which the batch was planned; with `availableNow`, in which the query began.
#
# A query that is too slow is only behind: it *pulls* records when it is ready. `maxOffsetsPerTrigger` bounds what one batch takes, so many waiting records do not fill its memory. It does not bound the state: only a watermark does. The rest waits with the brokers, as long as they keep it (`retention.ms`).

# %% [markdown]
# ### Exercise 13.5: How far behind?
#
# `query` counted the morning and ended. Now the afternoon is in the topic, too. How many records wait for it? Make `waiting`, a dictionary: for each partition the number of records that the query has not read.

# %%
import json

from threebrokers.kafka.log_reader import end_offsets


def count_airports(topic, checkpoint):
    """Start a query that counts departures by airport."""
    writer = departures(topic).groupBy("origin").count().writeStream.format("memory").queryName("airports")
    writer = writer.outputMode("complete").option("checkpointLocation", checkpoint)
    return writer.trigger(availableNow=True).start()


behind, query = first_run(lab, "stream-behind", count_airports, checkpoint="behind")
# TODO: compare the end of each partition with the query's place
# BEGIN SOLUTION
place = json.loads(query.lastProgress["sources"][0]["endOffset"])[behind]
waiting = {part: end - place[str(part)] for part, end in end_offsets(lab.bootstrap, behind).items()}
print(waiting, query.lastProgress["sources"][0]["metrics"])
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# Two numbers for each partition: one knows the query, one only the brokers. When was the query asked last?
#
# </details>
# <details><summary>Another hint</summary>
#
# `query.lastProgress["sources"][0]["endOffset"]` is a text of JSON: `json.loads` makes a dictionary of it, by topic, then by partition (as text). `end_offsets(lab.bootstrap, behind)` has whole numbers as keys.
#
# </details>

# %% tags=["wrong"]
# what the query says | that was so when the query's last batch ended
metrics = query.lastProgress["sources"][0]["metrics"]
waiting = dict.fromkeys(range(3), int(metrics["maxOffsetsBehindLatest"]))

# %% tags=["wrong"]
# the ends | is the end of each partition
waiting = end_offsets(lab.bootstrap, behind)

# %% tags=["wrong"]
# the query's place | is where the query stands in each partition
place = json.loads(query.lastProgress["sources"][0]["endOffset"])[behind]
waiting = {int(part): offset for part, offset in place.items()}

# %% tags=["wrong"]
# one partition | has the partitions [0]
place = json.loads(query.lastProgress["sources"][0]["endOffset"])[behind]
waiting = {0: end_offsets(lab.bootstrap, behind)[0] - place["0"]}

# %% tags=["nbval-check-output"]
lab.check.how_far_behind(query, waiting)

# %% [markdown] covers="D210 D211 D213" explains="tumbling window, sliding window, session window"
# ### Windows of three kinds
#
# *When is an airport busiest?* depends on the windows:
#
# | window | in Spark | how often a flight counts |
# |---|---|---|
# | **tumbling window**: one after the other | `F.window(time, "1 day")` | once |
# | **sliding window** (Kafka Streams: *hopping*): a new one begins every so often | `F.window(time, "1 day", "6 hours")` | four times |
# | **session window**: as long as no gap is larger | `F.session_window(time, "30 minutes")` | once |
#
# A large window is smooth and reacts late, a small one is nervous. The same three serve moving averages, best sellers of a week, or the 99th percentile of a load (`F.percentile_approx`).
#
# The session windows first. How long is each airport at work without a gap of 30 minutes? (A session ends 30 minutes after its last departure.)

# %%
work = departures(june).groupBy(F.session_window("scheduled", "30 minutes"), "origin").count()
watch_query(start_query(work, "complete", "work"))
spark.table("work").selectExpr("origin", "session_window.*", "count").orderBy("start", "origin").toPandas()

# %% [markdown]
# Each airport is at work without a gap from the morning until late in the evening. (The times are in UTC, where that evening is the next day.) One flight before that, and ten in the night, are sessions of their own.

# %% [markdown]
# ### Exercise 13.6: Hours that begin every ten minutes
#
# With tumbling windows, JFK has at most 30 departures in an hour. But a busy hour from half past to half past is cut in two by them. Make `query`: it counts departures by airport in windows of one hour, and one begins every ten minutes. Its columns are `window`, `origin` and `count`.

# %%
stream = departures(june)
# TODO: count, start the query as "sliding" in the mode complete, and watch it
# BEGIN SOLUTION
counts = stream.groupBy(F.window("scheduled", "1 hour", "10 minutes"), "origin").count()
query = start_query(counts, "complete", "sliding")
watch_query(query)
spark.table("sliding").where("origin = 'JFK'").orderBy(F.desc("count")).show(3, truncate=False)
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# A window has a length and a step. Which of the two is one hour, and what is the other if nobody says?
#
# </details>
# <details><summary>Another hint</summary>
#
# The second argument of `F.window` is the length, the third one the step. The step may not be longer than the window.
#
# </details>

# %% tags=["wrong"]
# tumbling | a window begins every 60 minutes
query = start_query(stream.groupBy(F.window("scheduled", "1 hour"), "origin").count(), "complete", "sliding")
watch_query(query)

# %% tags=["wrong"]
# small windows | a window is 10 minutes long
query = start_query(
    stream.groupBy(F.window("scheduled", "10 minutes"), "origin").count(), "complete", "sliding"
)
watch_query(query)

# %% tags=["wrong"]
# a larger step | a window begins every 30 minutes
counts = stream.groupBy(F.window("scheduled", "1 hour", "30 minutes"), "origin").count()
query = start_query(counts, "complete", "sliding")
watch_query(query)

# %% tags=["wrong", "raises-exception"]
# length and step exchanged | ended in an error
counts = stream.groupBy(F.window("scheduled", "10 minutes", "1 hour"), "origin").count()
query = start_query(counts, "complete", "sliding")

# %% tags=["nbval-check-output"]
lab.check.busiest_hour(query)

# %% [markdown] covers="A009 D198" explains="processingTime"
# ### A query that does not end
#
# With `processingTime="1 second"` a batch begins each second if records have come (at once if the one before took longer), for ever; without a trigger, as soon as the one before has ended. Here it takes at most 200 records each time; watch how far behind it is. `watch_query` stops it after five batches.

# %%
checkpoint = fresh_folder("live")
live = departures(june, maxOffsetsPerTrigger=200).groupBy("origin").count()
writer = live.writeStream.format("memory").queryName("live").outputMode("complete")
writer = writer.option("checkpointLocation", checkpoint)
watch_query(writer.trigger(processingTime="1 second").start(), batches=5)

# %% [markdown]
# How old may an answer be? A request to a service is answered in milliseconds, and somebody waits for it. A nightly batch is up to a day old, and its data lose value while they wait. A stream is in the middle: nobody waits, and the answer is as old as one batch.
#
# | trigger | how old the answer is | what it costs |
# |---|---|---|
# | `availableNow=True`, each night | up to a day | nothing between two nights |
# | `processingTime="1 minute"` | about a minute | a process that always runs |
# | `processingTime="1 second"` | about a second | a batch each second, if records have come |
# | none | less than that: as long as two batches take | a batch as soon as the last one ends, if records have come |
#
# How long a batch takes depends on its size: a small one answers sooner, a large one does more in a second ([measured](../docs/scaling.md), for 1,000 to 64,000 records). There it is also computed what a million records a second would take.

# %% [markdown] covers="D203 D214" explains="stateless"
# ### One record at a time
#
# Not every stream counts. *Write a message for each flight that left more than four hours late* needs `where` and `select` only: it is **stateless**. It keeps nothing but its place, needs no window and no watermark, and can drop nothing. A plain consumer would do as well.

# %%
very_late = departures(june).where("dep_delay > 240").select("carrier", "flight", "origin", "dep_delay")
watch_query(start_query(very_late, "append", "very_late"))
spark.table("very_late").limit(3).toPandas()

# %% [markdown] covers="E299"
# ### Events out of sequence, in four steps
#
# 1. **Notice** that an event is late: its time is behind the latest one. Spark does it with the watermark.
# 2. **Set a limit**: three hours for a board, three weeks for an invoice. What is later belongs in another process. Spark only counts such records, and hands them to nobody: that process must read the topic itself, and compare.
# 3. **Mend in the same stream**: what comes within the limit, the same query adds to its window. Two programs that must agree with each other are one too many.
# 4. **Correct results** that are out already: in the mode `update`, into a place where a newer row with the same key takes the place of the older one (a compacted topic, a table with a key).

# %% [markdown]
# ### Here and in production
#
# | | here | usual |
# |---|---|---|
# | a batch reads (`maxOffsetsPerTrigger`) | 60 or 200 records | no limit; thousands to millions |
# | state is kept in | memory of one process | RocksDB on each machine, once there are millions of rows |
# | pieces of the state (`spark.sql.shuffle.partitions`) | 2 | 200; a checkpoint keeps the number with which it began |
# | checkpoint | a folder of this machine | storage that all machines reach, and that renames a file at once, or not at all (HDFS; S3 only with Spark's checkpoint manager for it) |
# | sink | a table in memory, which is gone with Spark | Kafka, files, a database |
# | steps that `recentProgress` keeps | 100 | 100; monitoring gets each by a `StreamingQueryListener` |
# | the flights' topic keeps its records | for ever (`retention.ms=-1`) | 7 days: a query that stands still for longer fails |

# %% [markdown]
# Compare with [the solution](../solutions/13_spark_streaming.ipynb). Next: [When is a stream a table?](14_spark_state.ipynb)
