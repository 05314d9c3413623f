# %% [markdown]
# # What do the topics say?
#
# **You will** read topics into tables of Apache Spark, answer a question about 336,776 flights and prove the answer, and write a result back for others to read.
#
# *45 minutes. You need nothing but this page. Labs 01 and 02 explain topics, partitions, offsets and keys.*

# %%
from threebrokers import open_lab

lab = open_lab("12")

# %% [markdown]
# ## A tool for questions
#
# A consumer gets one record after another. That is good for reacting: one record, one action. It is slow work for a question about all records, such as *at which hour are flights most delayed?*
#
# **Apache Spark** is made for such questions. You describe the answer as a table that comes from other tables; Spark divides the work into **tasks**, runs them at the same time, and puts the parts together. Spark runs in Java. Your Python code only describes; **PySpark** is the library that passes the description on. `session()` starts Spark and returns the object through which you talk to it. Here it runs on this machine, with two tasks at a time. On a cluster of machines the same lines would run with hundreds: `session("spark://host:port")`.
#
# Our data are all 336,776 departures from the three airports of New York in 2013. They are in the topic `flights`, where lab 02 puts them. If they are not there, the next cell sends them; that takes about ten seconds. Most of this lab uses the flights of January only, which the cell sends to a topic of their own.

# %%
from threebrokers.data import ensure_flights, month_topic
from threebrokers.spark import session

spark = session()
all_flights = ensure_flights(lab)
january = month_topic(lab, "spark-january", month=1)
print("Spark", spark.version, "is ready; topics:", all_flights, "and", january)

# %% [markdown] covers="C005"
# ## A topic as a table
#
# A topic resembles a table of a database. A record is a row; key, value, partition, offset and timestamp are columns. Spark shows it in just this way. `spark.read.format("kafka")` makes a **DataFrame**, Spark's word for a table whose rows are computed when somebody asks for them. One task reads one partition.

# %%
from threebrokers.diagrams import reading_picture

reading_picture(january, partitions=3)

# %% [markdown]
# The function below reads a topic from its first offset to its end. It needs two options: the addresses of the brokers and the topic's name. Nearly every setting of Kafka's own Java client can be given too, with `kafka.` in front of its name: so `kafka.bootstrap.servers`.
#
# The call takes a moment. What does Spark do in it? Press the button of your answer before you run on. (The cell asks Spark whether it gave work to its tasks; only they read.)

# %%
guess = lab.predict(
    "How many of the 27,004 records of January has Spark read when the call returns?",
    {
        "all": "A DataFrame is a plan: nothing is read before somebody asks for rows.",
        "a few, to learn the columns": "The columns are the same for every topic, so there is nothing to learn from it.",
        "none": "A DataFrame is a plan, and Spark reads when somebody asks for rows.",
    },
    id="12.a",
)
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess.choose("none")
# END SOLUTION

# %%
from time import perf_counter


def read(topic):
    """All records of a topic, as Spark's Kafka reader gives them."""
    return (
        spark.read.format("kafka")
        .option("kafka.bootstrap.servers", lab.bootstrap)
        .option("subscribe", topic)
        .load()
    )


tracker = spark.sparkContext.statusTracker()
jobs, start = set(tracker.getJobIdsForGroup()), perf_counter()
records = read(january)
print(f"{perf_counter() - start:.1f} s")
started = set(tracker.getJobIdsForGroup()) - jobs
guess.compare("none" if not started else "a few, to learn the columns" if len(started) == 1 else "all")
records.printSchema()

# %% [markdown]
# <details><summary>What happened?</summary>
#
# None. A DataFrame is a plan. Spark reads only when you ask for rows or for a number, for example with `show()`, `count()` or `toPandas()`, and it reads again each time you ask. What it reads is what the topic holds *at that moment*.
#
# </details>
#
# Let us ask for three rows. `key` and `value` are bytes, because Kafka knows nothing else; `cast("string")` makes text of them.

# %%
from pyspark.sql import functions as F

key, value = F.col("key").cast("string"), F.col("value").cast("string").alias("text")
three = records.select("partition", "offset", "timestamp", key, value).limit(3).toPandas()
print("The value of the first:", three["text"][0])
three.drop(columns="text")

# %% [markdown]
# ## From bytes to columns
#
# The value is text, in a format called JSON: names and values in braces. To compute with it we need columns with **types**: a time, whole numbers, text. `from_json(text, schema)` makes them. The schema is the list of names and types, written by you:
#
# ```python
# schema = "name STRING, age INT, born TIMESTAMP"
# people = records.select(F.from_json(F.col("value").cast("string"), schema).alias("person"))
# people.select("person.*")
# ```
#
# Why write it? Spark could guess a schema, but to guess it must read all records once more, and it would guess that a time is a text. The schema also chooses: a field that you do not name is left out, and a name that is not in the JSON becomes **null**, Spark's word for *nothing there*. Names must match letter by letter.
#
# What is in the JSON of a flight:
#
# | field | what it is | example |
# |---|---|---|
# | `scheduled` | when the flight should leave, with the distance to world time (UTC) | `2013-01-01T05:15:00-05:00` |
# | `carrier`, `flight` | airline, flight number | `UA`, `1545` |
# | `tailnum` | the aircraft; null for 155 flights of January | `N14228` |
# | `origin`, `dest` | from where, to where | `EWR`, `IAH` |
# | `dep_delay`, `arr_delay` | minutes late at departure and at arrival, below 0 is early; null if it never left (521 flights of January) or never arrived | `2`, `11` |
# | `distance` | miles | `1400` |

# %% [markdown]
# ### Exercise 12.1: From bytes to columns
#
# Make `table`: one row for each record of `records`, and the nine fields as nine columns with the types that fit: `scheduled` a time (`TIMESTAMP`), numbers whole numbers (`INT`), the rest text. No flight may get lost, also none that never left.

# %%
records = read(january)
# TODO: describe the nine fields, take the value apart, and keep the fields as columns of `table`
# BEGIN SOLUTION
schema = (
    "scheduled TIMESTAMP, carrier STRING, flight INT, tailnum STRING, origin STRING, dest STRING, "
    "dep_delay INT, arr_delay INT, distance INT"
)
flight = F.from_json(F.col("value").cast("string"), schema).alias("flight")
table = records.select(flight).select("flight.*")
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# The example above does the same for people. Which line must know the names and types of a flight, and what does `person.*` become?
#
# </details>
# <details><summary>Another hint</summary>
#
# The schema is one text: name, space, type, comma, and so on. `TIMESTAMP` understands the offset at the end of `scheduled` by itself. Look at the result with `table.show(5)` and `table.printSchema()`.
#
# </details>

# %% tags=["wrong"]
# text only | are of the type string
schema = "scheduled STRING, carrier STRING, flight STRING, tailnum STRING, origin STRING, dest STRING, "
schema += "dep_delay STRING, arr_delay STRING, distance STRING"
flight = F.from_json(F.col("value").cast("string"), schema)
table = records.select(flight.alias("flight")).select("flight.*")

# %% tags=["wrong"]
# collect, then let Spark guess | were collected into this notebook
import json

flights = [json.loads(record.value) for record in records.collect()]
table = spark.createDataFrame(flights)

# %% tags=["wrong"]
# local time | 05:15 in UTC, and it was 05:15 in New York
schema = "scheduled STRING, carrier STRING, flight INT, tailnum STRING, origin STRING, dest STRING, "
schema += "dep_delay INT, arr_delay INT, distance INT"
table = records.select(F.from_json(F.col("value").cast("string"), schema).alias("f")).select("f.*")
table = table.withColumn("scheduled", F.to_timestamp(F.substring("scheduled", 1, 19)))

# %% tags=["wrong"]
# drop what has no delay | flights that never left are missing
schema = "scheduled TIMESTAMP, carrier STRING, flight INT, tailnum STRING, origin STRING, dest STRING, "
schema += "dep_delay INT, arr_delay INT, distance INT"
table = records.select(F.from_json(F.col("value").cast("string"), schema).alias("f")).select("f.*")
table = table.dropna(subset=["dep_delay"])

# %% tags=["wrong"]
# no delay is no minutes | has a number for all flights
schema = "scheduled TIMESTAMP, carrier STRING, flight INT, tailnum STRING, origin STRING, dest STRING, "
schema += "dep_delay INT, arr_delay INT, distance INT"
table = records.select(F.from_json(F.col("value").cast("string"), schema).alias("f")).select("f.*")
table = table.fillna(0)

# %% tags=["wrong"]
# the record's own time | that is when the record was written
schema = "carrier STRING, flight INT, tailnum STRING, origin STRING, dest STRING, "
schema += "dep_delay INT, arr_delay INT, distance INT"
flight = F.from_json(F.col("value").cast("string"), schema).alias("f")
table = records.select(F.col("timestamp").alias("scheduled"), flight).select("scheduled", "f.*")

# %% tags=["wrong"]
# a misspelt name | `scheduled` is null in 27,004 of 27,004 rows
schema = "schedule TIMESTAMP, carrier STRING, flight INT, tailnum STRING, origin STRING, dest STRING, "
schema += "dep_delay INT, arr_delay INT, distance INT"
table = records.select(F.from_json(F.col("value").cast("string"), schema).alias("f")).select("f.*")
table = table.withColumnRenamed("schedule", "scheduled")

# %% tags=["nbval-check-output"]
lab.check.flights_in_columns(table)

# %% [markdown]
# ## A moment is not an hour
#
# A `TIMESTAMP` is a moment: the same for everybody on earth. An *hour* is a word for that moment in one place. 05:15 in New York is 10:15 in world time (UTC), in winter; in summer it is 09:15.
#
# So `hour(scheduled)` must ask: the hour where? Spark takes the zone of its session. Without a setting that is the zone of the machine, so a laptop in Lima and one in Oslo give different answers from the same data. The course sets the session to UTC, which is the same everywhere. When a question is about New York, say so in the query: `F.convert_timezone(None, F.lit("America/New_York"), "scheduled")` is the time on the clocks there (`None` stands for the zone of the session).
#
# The next cell shows both. `flight_columns` is the course's own answer to exercise 12.1, so that you can go on from here in any case.

# %%
from threebrokers.spark import flight_columns

flights = flight_columns(read(january))
new_york = F.convert_timezone(None, F.lit("America/New_York"), "scheduled")
hours = flights.select(
    "flight",
    F.col("scheduled").alias("in_utc"),
    F.hour("scheduled").alias("hour_in_utc"),
    new_york.alias("in_new_york"),
    F.hour(new_york).alias("hour_in_new_york"),
)
hours.orderBy("in_utc").limit(3).toPandas()

# %% [markdown]
# ### Exercise 12.2: The worst hour
#
# At which airport and hour are flights most delayed? Make `delays` from `flights`: the columns `origin`, `hour` (of the scheduled departure, on New York's clocks), `flights` (how many were scheduled, also those that never left) and `mean_delay` (the mean of `dep_delay`). Leave out hours with fewer than 100 flights. The worst comes first.

# %%
flights = flight_columns(read(january))
# TODO: group by airport and hour, compute the two numbers, and put the worst first
# BEGIN SOLUTION
hour = F.hour(F.convert_timezone(None, F.lit("America/New_York"), "scheduled"))
groups = flights.groupBy("origin", hour.alias("hour"))
means = groups.agg(F.count("*").alias("flights"), F.mean("dep_delay").alias("mean_delay"))
delays = means.where("flights >= 100").orderBy(F.desc("mean_delay"))
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# In words: groups of rows with the same airport and hour, two numbers for each group, some groups left out, the rest in order. Each of the four has a method of its own. Which of them needs the hour?
#
# </details>
# <details><summary>Another hint</summary>
#
# `groupBy` takes names and expressions; `.alias("hour")` names an expression. `agg` takes `F.count("*")`, which counts rows, and `F.mean(…)`, which leaves nulls out. Then `where` and `orderBy(F.desc(…))`.
#
# </details>

# %% tags=["wrong"]
# hours of UTC | the hours of `delays` are hours in UTC
groups = flights.groupBy("origin", F.hour("scheduled").alias("hour"))
means = groups.agg(F.count("*").alias("flights"), F.mean("dep_delay").alias("mean_delay"))
delays = means.where("flights >= 100").orderBy(F.desc("mean_delay"))

# %% tags=["wrong"]
# hours with few flights | the row for EWR at 22 stands for 5 flights
hour = F.hour(F.convert_timezone(None, F.lit("America/New_York"), "scheduled"))
groups = flights.groupBy("origin", hour.alias("hour"))
means = groups.agg(F.count("*").alias("flights"), F.mean("dep_delay").alias("mean_delay"))
delays = means.orderBy(F.desc("mean_delay"))

# %% tags=["wrong"]
# never left is not late | count a flight that never left as 0 minutes late
hour = F.hour(F.convert_timezone(None, F.lit("America/New_York"), "scheduled"))
groups = flights.fillna(0).groupBy("origin", hour.alias("hour"))
means = groups.agg(F.count("*").alias("flights"), F.mean("dep_delay").alias("mean_delay"))
delays = means.where("flights >= 100").orderBy(F.desc("mean_delay"))

# %% tags=["wrong"]
# only those that left | counts only flights that left
hour = F.hour(F.convert_timezone(None, F.lit("America/New_York"), "scheduled"))
groups = flights.dropna(subset=["dep_delay"]).groupBy("origin", hour.alias("hour"))
means = groups.agg(F.count("*").alias("flights"), F.mean("dep_delay").alias("mean_delay"))
delays = means.where("flights >= 100").orderBy(F.desc("mean_delay"))

# %% tags=["wrong"]
# delays on arrival | the means are those of the delays on arrival
hour = F.hour(F.convert_timezone(None, F.lit("America/New_York"), "scheduled"))
groups = flights.groupBy("origin", hour.alias("hour"))
means = groups.agg(F.count("*").alias("flights"), F.mean("arr_delay").alias("mean_delay"))
delays = means.where("flights >= 100").orderBy(F.desc("mean_delay"))

# %% tags=["wrong"]
# minutes added up | `mean_delay` is a sum
hour = F.hour(F.convert_timezone(None, F.lit("America/New_York"), "scheduled"))
groups = flights.groupBy("origin", hour.alias("hour"))
means = groups.agg(F.count("*").alias("flights"), F.sum("dep_delay").cast("double").alias("mean_delay"))
delays = means.where("flights >= 100").orderBy(F.desc("mean_delay"))

# %% tags=["wrong"]
# best first | the worst should come first
hour = F.hour(F.convert_timezone(None, F.lit("America/New_York"), "scheduled"))
groups = flights.groupBy("origin", hour.alias("hour"))
means = groups.agg(F.count("*").alias("flights"), F.mean("dep_delay").alias("mean_delay"))
delays = means.where("flights >= 100").orderBy("mean_delay")

# %% tags=["nbval-check-output"]
lab.check.worst_hour(delays)

# %% [markdown]
# ## All flights at once
#
# January was a sample. Now the same question for the whole year: 336,776 records in six partitions. The query is the one of exercise 12.2; only the topic is another.

# %%
from threebrokers.spark import delays_by_hour

worst = delays_by_hour(flight_columns(read(january)), fewest=100).toPandas().iloc[0]
guess = lab.predict(
    f"In January the worst was {worst['origin']} at {worst['hour']}. And in the whole year?",
    {
        "the same airport and hour": "Delays grow through the day in every month. The sample was good; now you know it.",
        "the same airport, another hour": "Delays grow through the day in every month, not in winter only.",
        "another airport": "One month can mislead, but here it did not: this airport is late all the year.",
    },
    id="12.b",
)
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess.choose("the same airport and hour")
# END SOLUTION

# %%
start = perf_counter()
year = delays_by_hour(flight_columns(read(all_flights)), fewest=1).toPandas()
print(f"{year['flights'].sum():,} flights read and grouped in {perf_counter() - start:.1f} s")
worst_of_year = year[year["flights"] >= 100].head(3)
top = worst_of_year.iloc[0]
same_hour = "the same airport and hour" if top["hour"] == worst["hour"] else "the same airport, another hour"
guess.compare(same_hour if top["origin"] == worst["origin"] else "another airport")
worst_of_year

# %% [markdown]
# Can we trust it? The flights came out of a Python package before they went to Kafka. The next cell computes the answer from the package's own table, with pandas and without Kafka, and compares all groups.

# %%
from threebrokers.data import flights_file, load_flights

package = load_flights()
hour = package["scheduled"].dt.hour.rename("hour")
in_package = package.groupby(["origin", hour])["dep_delay"].agg(flights="size", mean_delay="mean")
in_topic = year.set_index(["origin", "hour"])
both = in_topic.join(in_package.astype(float), rsuffix="_in_package", how="outer")
print("Groups with another number of flights:", (both["flights"] != both["flights_in_package"]).sum())
difference = (both["mean_delay"] - both["mean_delay_in_package"]).abs().max()
print(f"Largest difference between two means: {difference:.6f} minutes")

# %% [markdown]
# The picture shows the means of the year, for hours with at least 100 flights. Delays grow through the day, because an aircraft that arrives late leaves late. The table below has the same numbers.

# %%
import matplotlib.pyplot as plt

by_hour = year[year["flights"] >= 100].pivot(index="hour", columns="origin", values="mean_delay")
figure, axes = plt.subplots(figsize=(7, 3.5))
for airport, marker, colour in (("EWR", "o", "#0072b2"), ("JFK", "s", "#d55e00"), ("LGA", "^", "#009e73")):
    axes.plot(by_hour.index, by_hour[airport], marker=marker, color=colour, label=airport)
axes.set(
    xticks=by_hour.index,
    xlabel="scheduled hour in New York",
    ylabel="mean delay (minutes)",
    title="Departures of 2013",
)
axes.legend()
plt.show()
by_hour.round(1)

# %% [markdown] covers="C005"
# ## What a table can and a topic cannot
#
# A topic resembles a table, up to a point.
#
# | question | table of a database | topic |
# |---|---|---|
# | Can I change a row? | yes, `UPDATE` | no: you write a newer record with the same key; the older one stays, until compaction removes it (lab 09) |
# | Can I find a row by its key? | yes, through an index | no: Kafka finds an offset, or a time; for a key, all records are read |
# | Is a key unique? | if you say so | no: a key may come often, or be missing |
# | Are columns checked? | yes, on writing | no: bytes go in; the reader must know what they mean |
# | Is there an order? | none, unless you ask | yes: the offsets, inside a partition |
# | Does reading see a fixed state? | yes, inside a transaction | only between fixed offsets |
#
# The next cell looks for one aircraft, and lets Spark count how many records it had to fetch for that.
#
# The key is the tail number, and all records of a key are in one partition.

# %%
guess = lab.predict(
    "How many of the 27,004 records does Spark fetch to find those of one aircraft?",
    {
        "only those of the aircraft": "A topic has no index of its keys, so nobody can go straight to them.",
        "those of one partition": "Spark does not know which formula put keys into partitions, so it cannot know which one.",
        "all": "There is no index, and Spark does not know which formula the producer used.",
    },
    id="12.c",
)
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess.choose("those of one partition")
# END SOLUTION

# %%
from pyspark.sql import Observation

from threebrokers.kafka.log_reader import end_offsets

fetched = Observation()
one_aircraft = read(january).observe(fetched, F.count("*").alias("records")).where("key = 'N14228'")
found, total = one_aircraft.count(), sum(end_offsets(lab.bootstrap, january).values())
print(found, "flights of N14228 found;", f"{fetched.get['records']:,} records fetched")
some = "only those of the aircraft" if fetched.get["records"] == found else "those of one partition"
guess.compare("all" if fetched.get["records"] == total else some)

# %% [markdown]
# All of them. Spark does not know which partitioner the producer used, so it cannot know the partition either.
#
# But there is a way from a topic to a table: keep the last record of each key. Below, each aircraft's last flight in January. `max_by(value, offset)` is the value at the highest offset; all records of a key are in one partition, so their offsets can be compared.

# %%
with_key = records.where("key IS NOT NULL")
latest = with_key.groupBy("key").agg(F.max_by("value", "offset").alias("value"))
print(f"{with_key.count():,} records with a key are about {latest.count():,} aircraft")
flight_columns(latest).orderBy("tailnum").limit(3).toPandas()

# %% [markdown]
# ## Only what is new
#
# A report runs every hour. It should read only the records that came since the last run. How does it know where it stopped?
#
# A consumer group has its place kept by the brokers. **Spark does not use this.** It never commits to a group: so it can read any range again, and a query that fails has moved nothing. For a batch, you keep the place. Spark writes and reads places as JSON:
#
# ```text
# {"spark-january": {"0": 8991, "1": 9320, "2": 8693}}
# ```
#
# For each topic and partition this is the offset of the **next** record. Two options of the reader use it: `startingOffsets` (from here) and `endingOffsets` (up to here, and not the record at this offset). Instead of JSON they also take `"earliest"` and `"latest"`. `end_offsets` tells where each partition ends now:

# %%
end_offsets(lab.bootstrap, january)

# %% [markdown]
# ### Exercise 12.3: Only what is new
#
# Write the function `read_new(topic, seen)`. It returns two things: a DataFrame of the records that are new, as Spark's reader gives them, and a text of JSON that says where the next call goes on. `seen` is the text that the last call returned, or `None` the first time: then everything is new. Records may arrive at any moment, also between your function's end and the moment when somebody asks the DataFrame for rows; they belong to the next call.

# %%
import json


# TODO: write read_new(topic, seen) so that each record is read once, whenever it comes
# BEGIN SOLUTION
def read_new(topic, seen):
    ends = {str(partition): offset for partition, offset in end_offsets(lab.bootstrap, topic).items()}
    until = json.dumps({topic: ends})
    reader = spark.read.format("kafka").option("kafka.bootstrap.servers", lab.bootstrap)
    reader = reader.option("subscribe", topic)
    new = reader.option("startingOffsets", seen or "earliest").option("endingOffsets", until).load()
    return new, until


# END SOLUTION


# %% [markdown]
# <details><summary>Hint</summary>
#
# Three questions: where does this batch begin, where does it end, and where will the next one begin? Two of the answers are the same. Decide it once, before Spark reads.
#
# </details>
# <details><summary>Another hint</summary>
#
# `json.dumps` writes a dictionary as JSON; it turns whole numbers used as keys into text. The first time, `startingOffsets` is `"earliest"`. The text that you give to `endingOffsets` is also what you return.
#
# </details>


# %% tags=["wrong"]
# no end | its table also has records from behind that end
def read_new(topic, seen):
    until = json.dumps({topic: {str(p): o for p, o in end_offsets(lab.bootstrap, topic).items()}})
    reader = spark.read.format("kafka").option("kafka.bootstrap.servers", lab.bootstrap)
    return reader.option("subscribe", topic).option("startingOffsets", seen or "earliest").load(), until


# %% tags=["wrong"]
# the last offset instead of the next | is the offset of the last record that was read
def read_new(topic, seen):
    new = read(topic)
    last = {str(row[0]): row[1] for row in new.groupBy("partition").agg(F.max("offset")).collect()}
    return new, json.dumps({topic: last})


# %% tags=["wrong"]
# a time | is a moment in time
def read_new(topic, seen):
    import time

    now = str(int(time.time() * 1000))
    reader = spark.read.format("kafka").option("kafka.bootstrap.servers", lab.bootstrap)
    reader = reader.option("subscribe", topic).option("endingTimestamp", now)
    return reader.option("startingTimestamp", seen or "0").load(), now


# %% tags=["wrong"]
# a group that should remember | Spark commits nothing to a consumer group
def read_new(topic, seen):
    reader = spark.read.format("kafka").option("kafka.bootstrap.servers", lab.bootstrap)
    new = reader.option("subscribe", topic).option("kafka.group.id", lab.group("spark-positions")).load()
    return new, "{}"


# %% tags=["wrong"]
# one partition | says nothing of partition 1, 2
def read_new(topic, seen):
    until = json.dumps({topic: {"0": end_offsets(lab.bootstrap, topic)[0]}})
    reader = spark.read.format("kafka").option("kafka.bootstrap.servers", lab.bootstrap)
    return reader.option("subscribe", topic).option("startingOffsets", seen or "earliest").load(), until


# %% tags=["wrong"]
# always from the start | records that the call before had read
def read_new(topic, seen):
    until = json.dumps({topic: {str(p): o for p, o in end_offsets(lab.bootstrap, topic).items()}})
    reader = spark.read.format("kafka").option("kafka.bootstrap.servers", lab.bootstrap)
    return reader.option("subscribe", topic).option("endingOffsets", until).load(), until


# %% tags=["nbval-check-output"]
lab.check.only_new(read_new)

# %% [markdown] covers="A074 B009"
# ## One topic, three readers at once
#
# The same events are wanted by people with different questions:
#
# | who | wants | reads with |
# |---|---|---|
# | the manager | a report each hour: mean delay by airport | a Spark batch |
# | the passengers | a board in the hall, always up to date: departures by airport | a Spark stream |
# | the mechanics | a small service: where is each aircraft now? | a Python consumer group |
#
# A **stream** is a Spark query that goes on: it reads what is new, adds it to its result, and keeps its place in a folder, the **checkpoint**. With the trigger `availableNow` it reads what is there and then ends. Lab 13 is about streams.
#
# All three run at the same time, over the same topic.

# %%
from threebrokers.diagrams import message_path

readers = ("report (Spark batch)", "board (Spark stream)", "positions (Python group)")
message_path(lab.cluster.state().topic(january), producers=("flights",), consumers=readers)

# %%
guess = lab.predict(
    "The topic has 27,004 records, and three readers. How many does each get?",
    {
        "about a third": "Members of one group share the partitions; these three are no members of one group.",
        "the fastest gets all, the others none": "Reading removes nothing: in a topic every record stays for the next reader.",
        "all": "Reading removes nothing, and each reader has a place of its own.",
    },
    id="12.d",
)
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess.choose("all")
# END SOLUTION

# %%
from threebrokers.spark import start_board


def report():
    """A Spark batch: mean delay by airport."""
    means = (
        flight_columns(read(january))
        .groupBy("origin")
        .agg(F.count("*").alias("flights"), F.mean("dep_delay").alias("mean_delay"))
    )
    return means.toPandas()


def board():
    """A Spark stream: departures by airport. It ends when it has read what is there."""
    query = start_board(spark, lab.bootstrap, january)
    query.awaitTermination()
    return sum(step["numInputRows"] for step in query.recentProgress)


# %%
total = sum(end_offsets(lab.bootstrap, january).values())
positions = {}


def follow(consumer):
    """A Python consumer group: the airport to which each aircraft flew last."""
    consumer.subscribe([january])
    count = 0
    while count < total:
        for message in consumer.consume(1_000, timeout=1):
            if message.error() is None:
                count += 1
                if message.key() is not None:
                    positions[message.key()] = json.loads(message.value())["dest"]
    consumer.close()
    return count


# %%
from concurrent.futures import ThreadPoolExecutor

group = lab.group("spark-positions")
mechanics = lab.consumer({"group.id": group, "auto.offset.reset": "earliest"})
with ThreadPoolExecutor() as together:
    jobs = [together.submit(report), together.submit(board), together.submit(follow, mechanics)]
by_airport, streamed, followed = [job.result() for job in jobs]

got = sorted([int(by_airport["flights"].sum()), streamed, followed])
fastest = "the fastest gets all, the others none"
guess.compare("all" if got[0] == total else fastest if got == [0, 0, total] else "about a third")
print(f"Spark batch:  {by_airport['flights'].sum():,} records, {len(by_airport)} rows")
print(f"Spark stream: {streamed:,} records, {spark.table('board').count()} rows")
print(f"Python group: {followed:,} records, {len(positions):,} aircraft, N14228 is in {positions[b'N14228']}")

# %% [markdown] covers="A074"
# Each got all of them. Reading removes nothing, and each reader has a place of its own: the group's is with the brokers, the stream's is in its checkpoint, the batch begins where it is told. So the list of groups in the next cell has the mechanics' group in it, and nothing of Spark.
#
# Three different tables came from one topic, because the topic holds **raw events**: each flight as it was, nothing added up. Think of the other way: the team that owns the flights offers a service that answers *mean delay by airport and day*. That is less work for the manager. But the mechanics cannot get an aircraft's place out of it, and nobody can get an hour out of a day. They would ask the team for more services, or make a copy of the data for themselves, which nobody else knows of: a **data silo**. Share what happened; let each reader compute what it needs.

# %%
print("Groups that the brokers know:", *lab.cluster.tool("kafka-consumer-groups", "--list").split())
by_airport

# %% [markdown] covers="B009"
# ### Exercise 12.4: A reader that misses nothing
#
# Add a fourth reader: a stream that copies all records of `january` into files of the folder `copy`, as companies do to keep data for years. Make `query`: it must read everything that the topic holds, keep its place in the folder `checkpoint`, and end by itself.

# %%
from threebrokers.spark import fresh_folder

for running in spark.streams.active:
    running.stop()
checkpoint, copy = fresh_folder("checkpoint"), fresh_folder("copy")
connection = {"kafka.bootstrap.servers": lab.bootstrap, "subscribe": january}
# TODO: read with spark.readStream and the options of `connection`; write in the format "parquet"; start it
# BEGIN SOLUTION
stream = spark.readStream.format("kafka").options(**connection).option("startingOffsets", "earliest").load()
writer = stream.writeStream.format("parquet").option("path", copy).option("checkpointLocation", checkpoint)
query = writer.trigger(availableNow=True).start()
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# A batch starts at the beginning of a topic unless it is told another place. Is that also true for a stream? And when does a stream end, if nobody stops it?
#
# </details>
# <details><summary>Another hint</summary>
#
# The reader takes `startingOffsets`. The writer takes the options `path` and `checkpointLocation` and a `trigger(…)`; the section above names the trigger that ends. `start()` returns the query.
#
# </details>

# %% tags=["wrong"]
# starts at the end | the query read 0 of 27,004 records
stream = spark.readStream.format("kafka").options(**connection).load()
writer = stream.writeStream.format("parquet").option("path", copy).option("checkpointLocation", checkpoint)
query = writer.trigger(availableNow=True).start()

# %% tags=["wrong"]
# never ends | the query has read everything and still runs
stream = spark.readStream.format("kafka").options(**connection).option("startingOffsets", "earliest").load()
writer = stream.writeStream.format("parquet").option("path", copy)
query = writer.option("checkpointLocation", checkpoint).start()

# %% tags=["wrong"]
# another reader's place | keeps its position in another folder
stream = spark.readStream.format("kafka").options(**connection).option("startingOffsets", "earliest").load()
writer = stream.writeStream.format("parquet").option("path", copy)
query = writer.option("checkpointLocation", fresh_folder("other")).trigger(availableNow=True).start()

# %% tags=["wrong"]
# one partition | did not read partition 1, 2
connection = {"kafka.bootstrap.servers": lab.bootstrap, "assign": json.dumps({january: [0]})}
stream = spark.readStream.format("kafka").options(**connection).option("startingOffsets", "earliest").load()
writer = stream.writeStream.format("parquet").option("path", copy).option("checkpointLocation", checkpoint)
query = writer.trigger(availableNow=True).start()

# %% tags=["nbval-check-output"]
lab.check.misses_nothing(query)

# %% [markdown]
# ## Write the answer back
#
# A result can be wanted by programs that do not know Spark. A topic is a good place for it. `write.format("kafka")` takes a DataFrame with a column `value` and, if you like, `key`, and writes one record for each row. Both must be text or bytes; `to_json(struct(…))` makes text of several columns.
#
# Which topic? A result replaces the result before. So only the last record of each key is of interest, and `cleanup.policy=compact` tells Kafka to keep just that (lab 09). The default, `delete`, removes records by age: after seven days without a run, the answers would be gone.
#
# One thing to know: if a task fails in the middle, a Spark cluster runs it again, and records that it had written come **twice**. If the whole job fails and you run it again, the same happens. With a key for each row and a compacted topic that does no harm: the second record says the same as the first.

# %% [markdown]
# ### Exercise 12.5: Write the answer back
#
# `summary` has one row for each airport and airline. Make the topic `spark-delays`, compacted, with three partitions and three replicas, and write one record for each row: the key is airport and airline with a hyphen between them, such as `EWR-UA`; the value is JSON with all four columns. Put the topic's name into `topic`.

# %%
groups = flight_columns(read(january)).groupBy("origin", "carrier")
summary = groups.agg(F.count("*").alias("flights"), F.mean("dep_delay").alias("mean_delay"))
# TODO: make the topic, make the columns key and value, and write them
# BEGIN SOLUTION
settings = {"cleanup.policy": "compact"}
topic = lab.fresh_topic("spark-delays", partitions=3, replication_factor=3, config=settings)
key = F.concat_ws("-", "origin", "carrier").alias("key")
rows = summary.select(key, F.to_json(F.struct("*")).alias("value"))
writer = rows.write.format("kafka").option("kafka.bootstrap.servers", lab.bootstrap)
writer.option("topic", topic).save()
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# Two rows with the same key: which one is left after compaction? So what must a key say? And which setting of the topic asks for compaction?
#
# </details>
# <details><summary>Another hint</summary>
#
# `F.concat_ws` joins columns with a text between them, `F.struct("*")` is all columns as one. The writer needs the option `topic` besides the addresses, and ends with `save()`.
#
# </details>

# %% tags=["wrong"]
# a topic that forgets | cleanup.policy of 'spark-delays' is 'delete'
topic = lab.fresh_topic("spark-delays", partitions=3, replication_factor=3)
rows = summary.select(
    F.concat_ws("-", "origin", "carrier").alias("key"), F.to_json(F.struct("*")).alias("value")
)
writer = rows.write.format("kafka").option("kafka.bootstrap.servers", lab.bootstrap)
writer.option("topic", topic).save()

# %% tags=["wrong"]
# a key for many rows | rows of the summary
topic = lab.fresh_topic(
    "spark-delays", partitions=3, replication_factor=3, config={"cleanup.policy": "compact"}
)
rows = summary.select(F.col("origin").alias("key"), F.to_json(F.struct("*")).alias("value"))
writer = rows.write.format("kafka").option("kafka.bootstrap.servers", lab.bootstrap)
writer.option("topic", topic).save()

# %% tags=["wrong", "raises-exception"]
# no key | the topic holds no record
topic = lab.fresh_topic(
    "spark-delays", partitions=3, replication_factor=3, config={"cleanup.policy": "compact"}
)
rows = summary.select(F.to_json(F.struct("*")).alias("value"))
writer = rows.write.format("kafka").option("kafka.bootstrap.servers", lab.bootstrap)
writer.option("topic", topic).save()

# %% tags=["wrong"]
# one number instead of the row | each value should be JSON with
topic = lab.fresh_topic(
    "spark-delays", partitions=3, replication_factor=3, config={"cleanup.policy": "compact"}
)
key = F.concat_ws("-", "origin", "carrier").alias("key")
rows = summary.select(key, F.col("mean_delay").cast("string").alias("value"))
writer = rows.write.format("kafka").option("kafka.bootstrap.servers", lab.bootstrap)
writer.option("topic", topic).save()

# %% tags=["nbval-check-output"]
lab.check.written_back(topic)

# %% [markdown] covers="A020"
# ## When is Kafka the wrong tool?
#
# The question *which hour was the worst of the year?* is asked once a year. The flights lie in a file. Was it wise to send them through three brokers? The next cell answers it from the file and adds up what either way costs.

# %%
import pandas as pd

start = perf_counter()
file = pd.read_csv(flights_file(), usecols=["origin", "hour", "dep_delay"])
airport, hour = file.groupby(["origin", "hour"])["dep_delay"].mean().idxmax()
seconds = perf_counter() - start
memory = sum(broker.rss for broker in lab.cluster.processes().values()) / 1e9

print(
    f"From the file: {airport} at {hour}, in {seconds:.1f} s. Then the program ends, and costs nothing until next year."
)
print(f"Three brokers: {memory:.1f} GB of memory, 8,760 hours a year, whether somebody asks or not.")

# %% [markdown] covers="A020"
# For a summary that is wanted once a month or once a year, a batch over a file or a database is simpler, cheaper, and just as right. Kafka is worth its cost when at least one of these is true: somebody must know **soon**; **several** readers want the same events; events come from many places and must be **kept in order** until readers have time.
#
# Decide for yourself, then open the answer.
#
# <details><summary>A shop adds up its taxes every three months, from its database of invoices.</summary>
#
# No Kafka. One query on the database gives the sum; nobody needs it sooner, and nobody else reads it.
#
# </details>
# <details><summary>A railway shows delays to passengers, plans its crews, and writes a yearly report, all from the same train movements.</summary>
#
# Kafka. Passengers must know soon, and there are several readers. The yearly report alone would be no reason, but now the topic is there, and the report is one more reader. If the topic does not keep a whole year, it reads the files that another reader has copied.
#
# </details>
# <details><summary>A program needs the address of one customer, by number, in a few milliseconds.</summary>
#
# No Kafka: a topic has no index. A database has one. (The database itself may be filled from a topic.)
#
# </details>

# %% [markdown]
# ## What to remember
#
# - Spark sees a topic as a table of bytes; types, time zone and nulls are your decisions, and nothing warns you if one is wrong. Compare with a number that you know.
# - Spark commits to no group. Its place is JSON in your hands (batch) or in a checkpoint (stream), and a batch needs an end as well as a start.
# - Share raw events: each reader makes its own table from them, and none takes anything from another.
#
# ## Quiz
#
# **1. `records.count()` says 27,004. A minute later the same line says 27,010. Is something wrong?**
#
# <details><summary>Answer</summary>
#
# No. The DataFrame is a plan, and without `endingOffsets` it reads up to the end that the topic has when you ask. Six records came.
#
# </details>
#
# **2. Your colleague in Tokyo runs your query and gets other hours. The data are the same. What do you look at first?**
#
# <details><summary>Answer</summary>
#
# At the time zone of the session: without a setting it is that of the machine. Set it, and name the zone of the question in the query.
#
# </details>
#
# **3. A report starts each hour where the last one ended, and keeps the time at which it ended. Sometimes a record is never read. How can that be?**
#
# <details><summary>Answer</summary>
#
# A record carries the time of its producer. One that was sent late, or by a machine whose clock is slow, has an older time than the report's end, and lies behind it in the log. Keep offsets.
#
# </details>
#
# **4. You give Spark the option `kafka.group.id`. Does the group now remember where Spark was?**
#
# <details><summary>Answer</summary>
#
# No. Spark uses the name to ask the brokers, and commits nothing. Your JSON or your checkpoint remembers.
#
# </details>

# %% [markdown]
# Compare with [the solution](../solutions/12_spark_batch.ipynb). This is the last lab for now.
