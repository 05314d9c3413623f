# %% [markdown]
# # What do the topics say?
#
# **You will** read topics into tables of Apache Spark, answer a question about 336,776 flights and prove the answer, and let several readers use one topic at the same time.
#
# *{minutes} minutes, and {further} more if you go further. You need nothing but this page. Labs 01 and 02 explain topics, partitions, offsets and keys.*
#
# Lab 04 asked whether records outlive a broker's crash. This lab asks what they say. At its end are two audits: of orders that were lost and doubled (lab 10), and of payments that were taken back (lab 11).

# %%
from threebrokers import open_lab

lab = open_lab("12")

# %% [markdown]
# Three questions from earlier labs, to see what is still there:

# %%
lab.review()

# %% [markdown] explains="Apache Spark"
# ## A tool for questions
#
# A consumer gives your program one record after another. That is right for reacting: one record, one action. A question about all records, such as *at which hour are flights most delayed?*, needs groups, sums and an order.
#
# **Apache Spark** is made for such questions. You describe the answer as a table made of other tables. Spark divides the work into **tasks**, runs some of them at the same time, and puts the parts together. It runs in Java; the library **PySpark** passes on what you describe in Python. `session()` starts it on this machine, with two tasks at a time.
#
# Our data are all departures of 2013 from the three airports of New York: EWR, JFK and LGA. They are in the topic `flights`; if lab 02 has not put them there, the next cell does. Most of this lab uses January only, in a topic of its own.

# %%
from threebrokers.data import ensure_flights, month_topic
from threebrokers.spark import session

spark = session()
all_flights = ensure_flights(lab)
january = month_topic(lab, "spark-january", month=1)
print("Spark", spark.version, "is ready; topics:", all_flights, "and", january)

# %% [markdown] explains="DataFrame"
# ## A topic as a table
#
# A topic resembles a table of a database. A record is a row; key, value, partition, offset and timestamp are columns. `spark.read.format("kafka")` gives you a topic as a **DataFrame**, Spark's word for a table whose columns have names and types. Each partition is read by a task of its own.

# %%
from threebrokers.diagrams import reading_picture

reading_picture(january, partitions=3)

# %% [markdown]
# The function `read` below gives two options: the addresses of the brokers and the topic's name. A setting of Kafka's own Java client can be given too, with `kafka.` in front of its name. `read` sets one, `kafka.fetch.max.wait.ms`; *Going further* says why.
#
# What has Spark done when `read(january)` returns?

# %%
guess_12a = lab.predict("12.a")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_12a.choose("none")
# END SOLUTION


# %%
from threebrokers.spark import jobs_so_far


def read(topic, **options):
    """The records of a topic, as Spark's Kafka reader gives them; it has more options."""
    reader = spark.read.format("kafka").option("kafka.bootstrap.servers", lab.bootstrap)
    reader = reader.option("kafka.fetch.max.wait.ms", 10)  # not 500, at a partition's end
    return reader.option("subscribe", topic).options(**options).load()


# Only tasks read records, and tasks are parts of a job. So ask Spark, before and after, for its jobs.
before = jobs_so_far(spark)
records = read(january)
started = jobs_so_far(spark) - before
guess_12a.compare("none" if started == 0 else "a few" if started == 1 else "all")
records.printSchema()

# %% [markdown]
# A DataFrame is a plan. Spark reads when you ask for rows or a number, as with `show()`, `count()` or `toPandas()`. It reads again each time: what the topic holds *at that moment*. (One DataFrame with `groupBy` or `orderBy` gives its first answer again to `toPandas()` and `collect()`: make it anew.)
#
# `key` and `value` are bytes, because Kafka knows nothing else; `cast("string")` makes text of them.

# %%
from pyspark.sql import functions as F

print(f"{records.count():,} records")
key, value = F.col("key").cast("string"), F.col("value").cast("string").alias("text")
three = records.select("partition", "offset", "timestamp", key, value).limit(3).toPandas()
print("The value of the first:", three["text"][0])
three.drop(columns="text")

# %% [markdown] explains="from_json, null"
# ## From bytes to columns
#
# The value is text, in the format JSON: names and values in braces. To compute with it we need columns with **types**: a time, whole numbers, text. `from_json(text, schema)` makes them. The schema is the list of names and types, written by you:
#
# ```python
# schema = "name STRING, age INT, born TIMESTAMP"
# people = records.select(F.from_json(F.col("value").cast("string"), schema).alias("person"))
# people.select("person.*")
# ```
#
# A field that you do not name is left out. A name that is not in the JSON becomes **null**, Spark's word for *nothing there*, and no error: names must match letter by letter.
#
# What is in the JSON of a flight:
#
# | field | what it is | example |
# |---|---|---|
# | `scheduled` | when the flight should leave, with its distance from world time (UTC) | `2013-01-01T05:15:00-05:00` |
# | `carrier`, `flight` | airline, flight number | `UA`, `1545` |
# | `tailnum` | the aircraft; null if it is not known | `N14228` |
# | `origin`, `dest` | from where, to where | `EWR`, `IAH` |
# | `dep_delay`, `arr_delay` | minutes late at departure and at arrival, below 0 is early; null if it never left, or never arrived | `2`, `11` |
# | `distance` | miles | `1400` |

# %% [markdown]
# ### Exercise 12.1: From bytes to columns
#
# Make `table`, a DataFrame of Spark: one row for each record of `records`, and the nine fields as nine columns with the types that fit: `scheduled` a time (`TIMESTAMP`), numbers whole numbers (`INT`), the rest text. Keep the flights that never left, too.

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
# The schema is one text: name, space, type, comma, and so on. `TIMESTAMP` understands the `-05:00` at the end of `scheduled` by itself. Look at the result with `table.show(5)` and `table.printSchema()`. (`toPandas()` shows a null as `NaN`, and makes `14.0` of `14` beside it: pandas has no whole numbers with gaps. In Spark the column is `INT` all the same.)
#
# </details>


# %% tags=["wrong"]
# text only | are of the type string
schema = "scheduled STRING, carrier STRING, flight STRING, tailnum STRING, origin STRING, dest STRING, "
schema += "dep_delay STRING, arr_delay STRING, distance STRING"
flight = F.from_json(F.col("value").cast("string"), schema)
table = records.select(flight.alias("flight")).select("flight.*")

# %% tags=["wrong"]
# minutes with a fraction | it should be: dep_delay int, arr_delay int
schema = "scheduled TIMESTAMP, carrier STRING, flight INT, tailnum STRING, origin STRING, dest STRING, "
schema += "dep_delay DOUBLE, arr_delay DOUBLE, distance INT"
flight = F.from_json(F.col("value").cast("string"), schema)
table = records.select(flight.alias("flight")).select("flight.*")

# %% tags=["wrong"]
# collect, then let Spark guess | went through Python first
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

# %% tags=["wrong"]
# a table of pandas | should be a DataFrame of Spark
table = (
    records.select(F.from_json(F.col("value").cast("string"), "flight INT").alias("f"))
    .select("f.*")
    .toPandas()
)

# %% tags=["wrong"]
# not taken apart | are inside the column `flight`
schema = "scheduled TIMESTAMP, carrier STRING, flight INT, tailnum STRING, origin STRING, dest STRING, "
schema += "dep_delay INT, arr_delay INT, distance INT"
table = records.select(F.from_json(F.col("value").cast("string"), schema).alias("flight"))

# %% tags=["wrong", "raises-exception"]
# bytes as they are | ended in an error
table = records.select(F.from_json("value", "scheduled TIMESTAMP").alias("f")).select("f.*")

# %% tags=["nbval-check-output"]
lab.check.flights_in_columns(table)

# %% [markdown] explains="TIMESTAMP"
# ## A moment is not an hour
#
# A `TIMESTAMP` is a moment: the same for everybody on earth. An *hour* is a name for that moment in one place: 05:15 in New York is 10:15 in world time (UTC) in winter, and 09:15 in summer. So, the hour where? Spark takes the time zone of its session. Without a setting that is the machine's, so a laptop in Lima and one in Oslo give different answers. The course sets it to UTC.
#
# When a question is about New York, say so in the query: `F.convert_timezone(None, F.lit("America/New_York"), "scheduled")` is the time on the clocks there (`None` stands for the zone of the session).
#
# `flight_columns` is the course's own answer to exercise 12.1, so that you can go on in any case.

# %%
from threebrokers.spark import flight_columns

new_york = F.convert_timezone(None, F.lit("America/New_York"), "scheduled")
flights = flight_columns(read(january)).withColumn("in_new_york", new_york).orderBy("scheduled")
hours = flights.withColumns({"hour_utc": F.hour("scheduled"), "hour_new_york": F.hour("in_new_york")})
hours.select("flight", "scheduled", "hour_utc", "in_new_york", "hour_new_york").limit(3).toPandas()

# %% [markdown]
# ### Exercise 12.2: The worst hour
#
# At which airport and hour are flights most delayed? Make `delays` from `flights`, a DataFrame of Spark: the columns `origin`, `hour` (of the scheduled departure, on New York's clocks), `flights` (how many were scheduled, also those that never left) and `mean_delay` (the mean of `dep_delay`, not rounded). Keep hours with 100 flights or more, and put the worst first.

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

# %% tags=["wrong"]
# a table of pandas | should be a DataFrame of Spark
hour = F.hour(F.convert_timezone(None, F.lit("America/New_York"), "scheduled"))
groups = flights.groupBy("origin", hour.alias("hour"))
delays = groups.agg(F.count("*").alias("flights"), F.mean("dep_delay").alias("mean_delay")).toPandas()

# %% tags=["wrong"]
# rounded | the means are rounded
hour = F.hour(F.convert_timezone(None, F.lit("America/New_York"), "scheduled"))
groups = flights.groupBy("origin", hour.alias("hour"))
means = groups.agg(F.count("*").alias("flights"), F.round(F.mean("dep_delay"), 2).alias("mean_delay"))
delays = means.where("flights >= 100").orderBy(F.desc("mean_delay"))

# %% tags=["wrong"]
# more than 100 | an hour with exactly 100 flights would be left out
hour = F.hour(F.convert_timezone(None, F.lit("America/New_York"), "scheduled"))
groups = flights.groupBy("origin", hour.alias("hour"))
means = groups.agg(F.count("*").alias("flights"), F.mean("dep_delay").alias("mean_delay"))
delays = means.where("flights > 100").orderBy(F.desc("mean_delay"))

# %% tags=["wrong"]
# converted the wrong way | five hours later than those in UTC
hour = F.hour(F.convert_timezone(F.lit("America/New_York"), F.lit("UTC"), "scheduled"))
groups = flights.groupBy("origin", hour.alias("hour"))
means = groups.agg(F.count("*").alias("flights"), F.mean("dep_delay").alias("mean_delay"))
delays = means.where("flights >= 100").orderBy(F.desc("mean_delay"))

# %% tags=["wrong"]
# the whole year | and January has 27,004; the question is about January
local = F.hour(F.convert_timezone(None, F.lit("America/New_York"), "scheduled")).alias("hour")
year = flight_columns(read(all_flights)).groupBy("origin", local)
delays = year.agg(F.count("*").alias("flights"), F.mean("dep_delay").alias("mean_delay"))
delays = delays.where("flights >= 100").orderBy(F.desc("mean_delay"))

# %% tags=["wrong"]
# only the worst | has 1 of the
hour = F.hour(F.convert_timezone(None, F.lit("America/New_York"), "scheduled"))
groups = flights.groupBy("origin", hour.alias("hour"))
means = groups.agg(F.count("*").alias("flights"), F.mean("dep_delay").alias("mean_delay"))
delays = means.where("flights >= 100").orderBy(F.desc("mean_delay")).limit(1)

# %% tags=["wrong"]
# pandas computes, and Spark gets the rows | went through Python first
hour = F.hour(F.convert_timezone(None, F.lit("America/New_York"), "scheduled"))
groups = flights.withColumn("hour", hour).toPandas().groupby(["origin", "hour"])
means = groups.agg(flights=("flight", "size"), mean_delay=("dep_delay", "mean")).reset_index()
means = means[means["flights"] >= 100].sort_values("mean_delay", ascending=False)
delays = spark.createDataFrame(means)

# %% tags=["wrong"]
# a larger number, which changes nothing in January | hours with 100 to 149 flights would be left out
hour = F.hour(F.convert_timezone(None, F.lit("America/New_York"), "scheduled"))
groups = flights.groupBy("origin", hour.alias("hour"))
means = groups.agg(F.count("*").alias("flights"), F.mean("dep_delay").alias("mean_delay"))
delays = means.where("flights >= 150").orderBy(F.desc("mean_delay"))

# %% tags=["right"]
# in SQL, a sum divided by a number: a decimal
flights.createOrReplaceTempView("departures")
delays = spark.sql("""
    SELECT origin, hour(convert_timezone('America/New_York', scheduled)) AS hour, count(*) AS flights,
           sum(dep_delay) * 1.0 / count(dep_delay) AS mean_delay
    FROM departures GROUP BY 1, 2 HAVING count(*) >= 100 ORDER BY mean_delay DESC
""")

# %% tags=["nbval-check-output"]
lab.check.worst_hour(delays)

# %% [markdown]
# ## All flights at once
#
# In January, EWR at 19 was the worst. Is a sample of one month good enough? Let Spark read the whole year, in six partitions, and look at each month by itself.

# %%
guess_12b = lab.predict("12.b")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_12b.choose("10 to 12")
# END SOLUTION

# %%
from time import perf_counter

local = F.convert_timezone(None, F.lit("America/New_York"), "scheduled")
flights = flight_columns(read(all_flights)).withColumns({"hour": F.hour(local), "month": F.month(local)})
groups = flights.groupBy("origin", "hour", "month")
delay = F.col("dep_delay")
start = perf_counter()
sums = groups.agg(F.count("*").alias("flights"), F.sum(delay).alias("minutes"), F.count(delay).alias("left"))
sums = sums.toPandas()
spark_seconds = perf_counter() - start
print(f"{sums['flights'].sum():,} flights read and added up by Spark in {spark_seconds:.1f} s")

# %%
from threebrokers.spark import worst_by_month

worst = worst_by_month(sums, fewest=100)
agree = int(((worst["origin"] == "EWR") & (worst["hour"] == 19)).sum())
guess_12b.compare("10 to 12" if agree >= 10 else "7 to 9" if agree >= 7 else "6 or fewer")
print(f"EWR at 19 is the worst in {agree} of 12 months:")
worst.round(1)

# %% [markdown]
# So January found the worst hour of the year (*Delays through the day*), but not that of most months.
#
# Now one consumer in plain Python adds up the same. `to_the_end` is a loop around `consume()`, as in lab 01. The text of `scheduled` has New York's clock in it, so the hour is two of its characters. (Spark was already running when its time was taken.)

# %%
guess_12c = lab.predict("12.c")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_12c.choose("yes, but less than twice")
# END SOLUTION

# %%
import json
from collections import defaultdict

from threebrokers.spark import to_the_end

plain = lab.consumer({"group.id": lab.group("spark-plain"), "enable.auto.commit": False})
totals = defaultdict(lambda: [0, 0, 0])
start = perf_counter()
for record in to_the_end(plain, all_flights):
    flight = json.loads(record.value())
    when, minutes = flight["scheduled"], flight["dep_delay"]
    total = totals[flight["origin"], int(when[11:13]), int(when[5:7])]
    total[0] += 1
    if minutes is not None:
        total[1] += minutes
        total[2] += 1
plain_seconds = perf_counter() - start
times = plain_seconds / spark_seconds
faster = "yes, twice as fast or more" if times >= 2 else "yes, but less than twice"
guess_12c.compare(faster if times > 1 else "no, slower")
print(f"plain Python: {plain_seconds:.1f} s, Spark: {spark_seconds:.1f} s")

# %% [markdown]
# For data like ours a plain consumer is enough. So what is Spark for? Let it add up 5,000 records of each partition with one task (`coalesce(1)` gives it all partitions, one after the other) and with two at a time, each twice. The quicker time counts: the first also pays for making Java code of the plan.

# %%
ends = {str(partition): 5_000 for partition in range(6)}  # each partition is read up to this offset
part = flight_columns(read(all_flights, endingOffsets=json.dumps({all_flights: ends})))
part = part.withColumns({"hour": F.hour(local), "month": F.month(local)})
seconds = {"one task": [], "two at a time": []}
for _ in range(2):
    for asked, taken in zip((part.coalesce(1), part), seconds.values(), strict=True):
        start = perf_counter()
        asked.groupBy("origin", "hour", "month").agg(F.count("*"), F.sum(delay)).toPandas()
        taken.append(perf_counter() - start)
for tasks, taken in seconds.items():
    print(f"{tasks}: {6 * 5_000 / min(taken):,.0f} flights a second")
print(f"plain Python, the whole year: {sums['flights'].sum() / plain_seconds:,.0f} flights a second")

# %% [markdown]
# With a second free core Spark does more in a second, and you have written nothing for it. (The start counts, too: a longer query has a higher rate.) With the plain consumer you write yourself who reads what, and how the sums are put together.
#
# This is the reason for Spark: **the same lines divide the work among as many tasks as there are partitions** ([measured](../docs/scaling.md)), on one machine or on many. They also sort and group what is larger than memory, and work for a stream. Here plain Python is quicker than two tasks, because a record is little work; *How alike are two numbers?* (*Going further*) measures more work.
#
# Can we trust the numbers? The flights come from a Python package. So a third answer is made from its own table, with pandas and without Kafka.

# %%
import pandas as pd

from threebrokers.spark import sums_of_package

by_spark = sums.set_index(["origin", "hour", "month"]).fillna(0)  # no sum where no flight left
by_plain = pd.DataFrame.from_dict(totals, orient="index", columns=by_spark.columns)
same = by_spark.to_dict() == by_plain.to_dict() == sums_of_package().to_dict()
lab.observed(f"Spark, the plain program and the package agree on all {len(by_spark)} groups", same)

# %% [markdown] explains="startingOffsets, endingOffsets"
# ## Only what is new
#
# A report runs every hour. How does it know where it stopped? The brokers keep the committed offsets of a consumer group. **Spark does not use this.** It never commits: so it can read any range again, and a query that fails has moved nothing. For a batch, you keep the position. Spark writes and reads positions as JSON, for example:
#
# ```text
# {"orders": {"0": 120, "1": 95, "2": 131}}
# ```
#
# For each partition this is the offset of the **next** record. Two options of the reader take such a text: `startingOffsets` (from here) and `endingOffsets` (up to here, without the record at this offset). If you say nothing, a batch starts at `"earliest"` and ends at `"latest"`; it cannot start there. `end_offsets` tells where each partition ends now:

# %%
from threebrokers.kafka.log_reader import end_offsets

end_offsets(lab.bootstrap, january)

# %% [markdown]
# ### Exercise 12.3: Only what is new
#
# Write the function `read_new(topic, seen)`. It returns two things: a DataFrame of the new records, as Spark's reader gives them, and a text of JSON that says where the next call goes on. `seen` is the text that an earlier call returned, or `None` the first time: then everything is new. Spark should fetch new records only, and `seen` alone decides which these are: after a restart your function knows nothing else.
#
# Records may arrive at any moment: while your function runs, and also after its end and before somebody asks the DataFrame for rows. These belong to the next call.

# %%
import json


# TODO: write read_new(topic, seen) so that each record is fetched once, whenever it comes
# BEGIN SOLUTION
def read_new(topic, seen):
    ends = {str(partition): offset for partition, offset in end_offsets(lab.bootstrap, topic).items()}
    until = json.dumps({topic: ends})
    return read(topic, startingOffsets=seen or "earliest", endingOffsets=until), until


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


# %% tags=["wrong"]
# everything, then a filter | Spark fetched
def read_new(topic, seen):
    until = json.dumps({topic: {str(p): o for p, o in end_offsets(lab.bootstrap, topic).items()}})
    new = read(topic, endingOffsets=until)
    for partition, offset in json.loads(seen or "{}").get(topic, {}).items():
        new = new.where((F.col("partition") != int(partition)) | (F.col("offset") >= offset))
    return new, until


# %% tags=["wrong"]
# a place of its own | called again with what the first call returned
places = {}


def read_new(topic, seen):
    until = json.dumps({topic: {str(p): o for p, o in end_offsets(lab.bootstrap, topic).items()}})
    start, places[topic] = places.get(topic, "earliest") if seen else "earliest", until
    return read(topic, startingOffsets=start, endingOffsets=until), until


# %% tags=["wrong"]
# begins at latest | can't be latest
def read_new(topic, seen):
    until = json.dumps({topic: {str(p): o for p, o in end_offsets(lab.bootstrap, topic).items()}})
    new = read(topic, startingOffsets=seen or "latest", endingOffsets=until)
    return new, until


# %% tags=["wrong"]
# a dictionary | json.dumps(…) makes of a dictionary
def read_new(topic, seen):
    until = {topic: {str(p): o for p, o in end_offsets(lab.bootstrap, topic).items()}}
    return read(topic, startingOffsets=seen or "earliest", endingOffsets=json.dumps(until)), until


# %% tags=["nbval-check-output"]
lab.check.only_new(read_new)

# %% [markdown]
# The DataFrame is a plan: when your function returns, nothing is read yet. So store the text **after** the report is written. If you store it first and the program dies, the new records are in no report. If it dies between the two, they come into the next report again.

# %% [markdown] covers="A074 B009" explains="checkpoint, trigger, availableNow"
# ## One topic, three readers at once
#
# The same events answer different questions:
#
# | who | wants | reads with |
# |---|---|---|
# | the manager | each hour: mean delay by airport | a Spark batch |
# | the passengers | a board, always up to date: departures by airport | a Spark stream |
# | the mechanics | where is each aircraft now? | a Python consumer group |
#
# A **stream** is a Spark query that goes on: it reads what is new, adds it to its result, and keeps its position in a folder, the **checkpoint**: offsets as JSON, as in exercise 12.3. A **trigger** says when it looks for new records: with `availableNow` it reads what is there and then ends. Labs 13 to 15 tell more.

# %%
from concurrent.futures import ThreadPoolExecutor

from threebrokers.spark import board, folder, positions, report

mechanics = lab.consumer({"group.id": lab.group("spark-positions")})
with ThreadPoolExecutor() as together:
    first = together.submit(report, read(january))
    second = together.submit(board, spark, lab.bootstrap, january)
    third = together.submit(positions, mechanics, january)
mechanics.close()

by_airport, (streamed, departures), (followed, last) = first.result(), second.result(), third.result()
print(f"batch: {len(by_airport)} rows; stream: {len(departures)}; N14228 is in {last['N14228']}")
print("Groups that the brokers know:", *lab.cluster.tool("kafka-consumer-groups", "--list").split())
by_airport

# %%
from threebrokers.diagrams import readers_picture

[group] = lab.cluster.state([january], groups=[lab.group("spark-positions")]).groups
reads_next = {"Python group": {partition: offset for _, partition, offset in group.committed}}
kept = json.loads((folder("board") / "offsets" / "0").read_text().splitlines()[-1])[january]
reads_next["Spark stream"] = {int(partition): offset for partition, offset in kept.items()}

counts = {"Spark batch": by_airport["flights"].sum(), "Spark stream": streamed, "Python group": followed}
lab.observed("The three have equal counts: each got every record", len(set(counts.values())) == 1)
readers_picture(end_offsets(lab.bootstrap, january), reads_next, counts)

# %% [markdown] covers="A074 B019" explains="data silo, raw events"
# Each has a place of its own: the group's committed offsets are with the brokers, the stream notes its offsets in its checkpoint, and the batch begins where it is told. So the list of groups has the mechanics' group in it (perhaps that of the plain consumer, too), and none of Spark's.
#
# Three different tables came from one topic, because it holds **raw events**: each flight as it was. If its team offered only *mean delay by airport and day*, nobody could get an aircraft's place out of that, or an hour. Others would make copies of which nobody knows: **data silos**.

# %% [markdown]
# ### Exercise 12.4: A reader that misses nothing
#
# Add a fourth reader: a stream that copies all records of `january` into files of the folder `copy`, as companies keep data for years: as Parquet (files of typed columns). Make `query`: it must copy everything that the topic holds, with all columns that Spark's reader gives, keep its position in the folder `checkpoint`, and end by itself.

# %%
from threebrokers.spark import fresh_folder

checkpoint, copy = fresh_folder("checkpoint"), fresh_folder("copy")
connection = {"kafka.bootstrap.servers": lab.bootstrap, "subscribe": january}
# TODO: read with spark.readStream and the options of `connection`; write in the format "parquet"; start it,
# and wait for its end: query.awaitTermination(60)
# BEGIN SOLUTION
stream = spark.readStream.format("kafka").options(**connection).option("startingOffsets", "earliest").load()
writer = stream.writeStream.format("parquet").option("path", copy).option("checkpointLocation", checkpoint)
query = writer.trigger(availableNow=True).start()
query.awaitTermination(60)
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# A batch starts at the beginning of a topic unless it is told another place. Is that also true for a stream? And when does a stream end, if nobody stops it?
#
# </details>
# <details><summary>Another hint</summary>
#
# The reader takes `startingOffsets`. The writer takes the options `path` and `checkpointLocation` and a `trigger(…)`; the section above names the trigger that ends. `start()` returns the query, which runs beside the notebook: `awaitTermination(60)` waits for its end, for at most 60 s.
#
# </details>

# %% tags=["wrong"]
# starts at the end | the query read 0 of 27,004 records
stream = spark.readStream.format("kafka").options(**connection).load()
writer = stream.writeStream.format("parquet").option("path", copy).option("checkpointLocation", checkpoint)
query = writer.trigger(availableNow=True).start()
query.awaitTermination(60)

# %% tags=["wrong"]
# never ends | the query has read everything and still runs
stream = spark.readStream.format("kafka").options(**connection).option("startingOffsets", "earliest").load()
writer = stream.writeStream.format("parquet").option("path", copy)
query = writer.option("checkpointLocation", checkpoint).start()
query.processAllAvailable()

# %% tags=["wrong"]
# another reader's place | keeps its position in another folder
stream = spark.readStream.format("kafka").options(**connection).option("startingOffsets", "earliest").load()
writer = stream.writeStream.format("parquet").option("path", copy)
query = writer.option("checkpointLocation", fresh_folder("other")).trigger(availableNow=True).start()
query.awaitTermination(60)

# %% tags=["wrong"]
# one partition | it has those of partition 0
connection = {"kafka.bootstrap.servers": lab.bootstrap, "assign": json.dumps({january: [0]})}
stream = spark.readStream.format("kafka").options(**connection).option("startingOffsets", "earliest").load()
writer = stream.writeStream.format("parquet").option("path", copy).option("checkpointLocation", checkpoint)
query = writer.trigger(availableNow=True).start()
query.awaitTermination(60)

# %% tags=["wrong"]
# files of another kind | end with .json
stream = spark.readStream.format("kafka").options(**connection).option("startingOffsets", "earliest").load()
writer = stream.writeStream.format("json").option("path", copy).option("checkpointLocation", checkpoint)
query = writer.trigger(availableNow=True).start()
query.awaitTermination(60)

# %% tags=["wrong"]
# into memory | the folder `copy` is empty
stream = spark.readStream.format("kafka").options(**connection).option("startingOffsets", "earliest").load()
writer = stream.writeStream.format("memory").queryName("copied").option("checkpointLocation", checkpoint)
query = writer.trigger(availableNow=True).start()
query.awaitTermination(60)

# %% tags=["wrong"]
# the value alone | what a copy leaves out
stream = spark.readStream.format("kafka").options(**connection).option("startingOffsets", "earliest").load()
writer = stream.select(F.col("value").cast("string")).writeStream.format("parquet").option("path", copy)
query = writer.option("checkpointLocation", checkpoint).trigger(availableNow=True).start()
query.awaitTermination(60)

# %% tags=["wrong"]
# stopped at once | stopped before it had read
stream = spark.readStream.format("kafka").options(**connection).option("startingOffsets", "earliest").load()
writer = stream.writeStream.format("parquet").option("path", copy).option("checkpointLocation", checkpoint)
query = writer.trigger(availableNow=True).start()
query.stop()

# %% tags=["wrong"]
# ended by hand | because something stopped it
stream = spark.readStream.format("kafka").options(**connection).option("startingOffsets", "earliest").load()
writer = stream.writeStream.format("parquet").option("path", copy).option("checkpointLocation", checkpoint)
query = writer.start()
query.processAllAvailable()
query.stop()

# %% tags=["wrong"]
# without the keys, but with their column | the copy has another `key` than the topic
stream = spark.readStream.format("kafka").options(**connection).option("startingOffsets", "earliest").load()
stream = stream.withColumn("key", F.lit(None).cast("binary"))
writer = stream.writeStream.format("parquet").option("path", copy).option("checkpointLocation", checkpoint)
query = writer.trigger(availableNow=True).start()
query.awaitTermination(60)

# %% tags=["nbval-check-output"]
lab.check.misses_nothing(query)

# %% [markdown]
# ## What to remember
#
# - Spark sees a topic as a table of bytes. Types, time zone and nulls are your decisions, and nothing warns you if one is wrong: compare with a number that you know.
# - Spark commits to no group. Its position is JSON in your hands (batch) or in a checkpoint (stream), and a batch needs an end as well as a start.
# - Share raw events: each reader makes a table of its own from them.
#
# ## Quiz
#
# Each answer is explained when you have chosen it. The first one is kept with your progress, on this machine.

# %%
lab.quiz()

# %% [markdown]
# ## Going further
#
# What follows is not needed for other labs. Run its cells in order: later parts use what earlier ones have made.

# %% [markdown]
# ### A broker crashes while Spark reads
#
# Broker 2 leads two of the six partitions of `flights`. The option `minPartitions` cuts the partitions into about 60 pieces, each read by a task of its own: about 20 of them are broker 2's. When six tasks are done, it is killed. (With Spark Connect, `session("sc://…")`, this cell cannot count the tasks, and says so; all other cells of this lab work with it.)

# %%
guess_12d = lab.predict("12.d")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_12d.choose("it fails")
# END SOLUTION

# %%
from concurrent.futures import ThreadPoolExecutor

from threebrokers.spark import last_tasks

pieces = read(all_flights, minPartitions=60)
start = perf_counter()
with ThreadPoolExecutor() as aside:
    counting = aside.submit(pieces.count)
    lab.wait_until(lambda: last_tasks(spark).done >= 6, what="six tasks to be done", within=60)
    lab.cluster.kill(2)
    done = last_tasks(spark).done
counted = 0 if counting.exception() else counting.result()
print(f"{counted:,} records in {perf_counter() - start:.1f} s; {done} tasks were done at the kill")
print(f"{last_tasks(spark).failed} tasks failed")
lab.cluster.recover()

lab.observed("Broker 2 was killed while pieces of its partitions were still to be read", done < 20)
whole = counted == sums["flights"].sum()
guess_12d.compare("it fails" if counted == 0 else "it counts all" if whole else "it counts fewer records")

# %% [markdown] explains="kafkaConsumer.pollTimeoutMs"
# Not one task had to run again. Inside each task works a Kafka client, Java's own. It loses its connection, asks another broker who leads the partition now, and goes on at its offset. A task fails when it hears nothing for two minutes (`kafkaConsumer.pollTimeoutMs`, by Spark's documentation), or when records that it wants are gone. Here the query fails with it; a Spark cluster tries a task again first (`spark.task.maxFailures`).

# %% [markdown]
# ### What does a read wait for?
#
# `read` sets `kafka.fetch.max.wait.ms` to 10. Java's client has 500, if nobody says otherwise. Count January with each.

# %%
for wait in (10, 500):
    start = perf_counter()
    read(january, **{"kafka.fetch.max.wait.ms": wait}).count()
    print(f"{wait:5} ms: counted in {perf_counter() - start:.1f} s")

# %% [markdown]
# Three things come together:
#
# - A broker that has no new record answers a fetch only when one comes, or after `fetch.max.wait.ms`.
# - Java's client fetches ahead: while Spark gets the last records of a partition, the next fetch is already sent, and waits.
# - After each fetch Spark asks which offsets the partition has now. Brokers answer the requests of a connection in order, so this answer waits behind that fetch. Spark hands on no record before it has come.
#
# So each partition waits once, where its log ends, in a batch and in a stream. Here three partitions share two tasks at a time: two waits, one after the other. The plain program (*All flights at once*) asks for all ends before it reads, and does not wait. With eight partitions it is [measured](../docs/scaling.md), too.
#
# A small value has a price for clients that wait for records, such as a plain consumer or a query in real-time mode (lab 15): they ask a broker up to 100 times a second, not twice. A task of a batch, or of a stream's batch, reads only up to an end that is known, and gains nothing by waiting. So set 10 ms for both.

# %% [markdown]
# ### Here and in production
#
# | | here | usual |
# |---|---|---|
# | a fetch at the end of a log waits for records (`kafka.fetch.max.wait.ms`) | 10 ms | 500 ms |
# | where Spark's tasks run | two at a time, on this machine (`local[2]`) | hundreds, on many machines (`session("spark://host:port")`) |
# | pieces after a `groupBy` (`spark.sql.shuffle.partitions`) | 2, for little data | 200; a batch puts small ones together by itself, a stream with state does not |
# | how Spark's Java works | with its quick compiler only, for a quick start | with both: slower at first, then quicker |
# | memory of Spark (`spark.driver.memory`) | 768 MB, for the plan and all tasks together | each executor (a process that runs tasks) has its own (`spark.executor.memory`, 1 GB if you say nothing) |
# | time zone of the session (`spark.sql.session.timeZone`) | UTC | the machine's |
# | Spark's own page about jobs and tasks | off | on, port 4040 |
# | a crashed broker is noticed after (`broker.session.timeout.ms`) | 1.7 s | 9 s |
# | the flights are kept (`retention.ms` of their topics) | for ever (`-1`) | 7 days, then a report that comes late misses them |
#
# What stands under *usual* are the defaults that Spark's documentation (*Configuration*) and Kafka's tell.
#
# Before you copy topics of your own into files, as in exercise 12.4: each batch writes new files, one or more for each task, so a trigger every minute makes thousands of small ones. And which files count stands in `copy/_spark_metadata`, which only Spark reads: after a failed batch another program finds files that do not count. Table formats such as Delta Lake and Apache Iceberg exist for both. A new checkpoint needs a new folder of files, too: its batches begin at 0 again, and Spark passes over each batch whose number `_spark_metadata` has already.

# %% [markdown]
# ### Delays through the day
#
# The picture shows the means of the year, and the table below it the same numbers. At each airport delays grow from the morning to the evening. The data cannot say why: they do not tell how late each aircraft had come in.

# %%
from threebrokers.spark import delays_picture

year = by_spark.groupby(["origin", "hour"]).sum().query("flights >= 100")
by_hour = (year["minutes"] / year["left"]).unstack("origin")
delays_picture(by_hour, "Departures of 2013, hours with 100 flights or more")
by_hour.round(1)

# %% [markdown] covers="B019"
# ### Where each reader is
#
# Twelve records are in one partition, so its next offset is 12. The group A has read six of them, the group B nine. The distance to the end is a reader's **lag**.

# %%
from threebrokers.data import send
from threebrokers.diagrams import readers_picture

places = lab.fresh_topic("spark-places")
send(lab, places, [(None, f"record {n}".encode()) for n in range(12)])
stands = {}
for name, count in (("A", 6), ("B", 9)):
    reader = lab.consumer({"group.id": lab.group(f"spark-{name}"), "auto.offset.reset": "earliest"})
    reader.subscribe([places])
    reader.consume(count, timeout=10)
    [committed] = reader.commit(asynchronous=False)
    stands[f"group {name}"] = committed.offset
    reader.close()
readers_picture(end_offsets(lab.bootstrap, places)[0], stands)

# %% [markdown]
# For a group, `kafka-consumer-groups --describe` prints the lag. A Spark query is in no such list. A stream tells its lag itself: in `query.lastProgress`, each source has `maxOffsetsBehindLatest` among its `metrics`. A batch has none: compare the offsets that you keep with `end_offsets`.

# %% [markdown] explains="failOnDataLoss, minPartitions, maxOffsetsPerTrigger, startingTimestamp, includeHeaders, kafka.isolation.level, kafka.group.id"
# ### Options that you will meet
#
# | option | if you say nothing | what it does |
# |---|---|---|
# | `failOnDataLoss` | `true` | a query whose offsets are gone (retention, a topic made again) fails; with `false` it goes on with what is left. A topic that was made again and is longer than the kept offset looks like the old one: give it a new checkpoint, and a new folder for its files |
# | `startingOffsets` as JSON | `earliest` in a batch, `latest` in a stream | the first offset of each partition; it must name all, those that are new since then (lab 07) with -2, their first record |
# | `minPartitions` | one task for each partition | cuts partitions into pieces, so that more tasks can read |
# | `maxOffsetsPerTrigger` | none (stream only) | at most so many offsets in each step: a first run over a long topic does not take all at once |
# | `startingTimestamp`, `endingTimestamp` | none | from the first record that is as late as this (ms since 1970), up to such a one; a record that was sent late may lie on the other side. If a partition has none as late as the start, the query fails, unless `startingOffsetsByTimestampStrategy` is `latest`; with none as late as the end, it is read to its end |
# | `includeHeaders` | `false` | one more column, `headers`: an archive of a topic needs it |
# | `kafka.isolation.level` | `read_uncommitted` | Java's default: records of aborted transactions are read too. The Python client reads committed records only. |
# | `kafka.group.id` | a name for each query | for clusters that allow only certain names; nothing is committed |
#
# In the JSON of offsets, -2 stands for the first record and -1 for the end (a batch cannot start there). `minPartitions` and `maxOffsetsPerTrigger` count offsets and not records: where transactions or compaction leave gaps, the two differ.

# %% [markdown] explains="columnNameOfCorruptRecord"
# ### A value that nobody can read
#
# Real topics hold values that are no JSON: of a tool that somebody tried, or of an older version. `from_json` makes a row of nulls of each, and that looks like a flight of which nothing is known. With one more text column in the schema, and its name in the option `columnNameOfCorruptRecord`, such a value is kept in that column.

# %%
mixed = lab.fresh_topic("spark-mixed")
send(lab, mixed, [(None, b'{"carrier": "UA"}'), (None, b"hello?"), (None, b'{"carrier": 7'), (None, b"{}")])
schema, option = "carrier STRING, broken STRING", {"columnNameOfCorruptRecord": "broken"}
parsed = F.from_json(F.col("value").cast("string"), schema, option).alias("flight")
read(mixed).select(parsed).select("flight.*").toPandas()

# %% [markdown]
# What has something in `broken` is put aside, with a count that somebody looks at: lab 06 does the same with a topic for dead letters. The last row is good JSON without a carrier, and only `broken` tells the two apart.

# %% [markdown]
# ### Where is one aircraft?
#
# The key is the tail number, and all records of a key are in one partition. The next cell looks for the flights of one aircraft, and lets Spark count the records that it had to fetch for that.

# %%
guess_12e = lab.predict("12.e")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_12e.choose("those of one partition")
# END SOLUTION

# %%
from pyspark.sql import Observation

fetched = Observation()
one_aircraft = read(january).observe(fetched, F.count("*").alias("records")).where("key = 'N14228'")
found, total = one_aircraft.count(), read(january).count()
print(f"{found} flights of N14228 found; {fetched.get['records']:,} of {total:,} records fetched")
some = "only those of the aircraft" if fetched.get["records"] == found else "those of one partition"
guess_12e.compare("all" if fetched.get["records"] == total else some)

# %% [markdown]
# Spark's reader of Kafka takes over no filter, not even `partition = 0` or one of `offset` or `timestamp`; `explain()` says `PushedFilters: []`. All records are fetched, and most thrown away. Only its options make a read smaller: the option `assign` (certain partitions), offsets and times.

# %% [markdown] covers="C005"
# A topic resembles a table, up to a point.
#
# | question | table of a database | topic |
# |---|---|---|
# | Can I change a row? | yes, `UPDATE` | no: you write a newer record with the same key; the older one stays, at least until compaction |
# | Can I find a row by its key? | yes, through an index | no: Kafka finds an offset, or a time; for a key, all records are read |
# | Is a key unique? | if you say so | no: a key may come often, or be missing |
# | Are columns checked? | yes, on writing | no: bytes go in; the reader must know what they mean |
# | Is there an order? | none, unless you ask | yes: the offsets, inside a partition |
# | Does reading see a fixed state? | yes, inside a transaction | only between fixed offsets |
#
# But there is a way from a topic to a table: keep the last record of each key. Below, each aircraft's last flight in January. `max_by(value, offset)` is the value at the highest offset; all records of a key are in one partition, so their offsets can be compared. (This holds while the partitions stay as many, and one function chooses among them: *The same key, which partition?*) (A null is shown as `NaN`, and a number beside it as `14.0`: pandas has no whole numbers with gaps.)

# %%
with_key = records.where("key IS NOT NULL")
latest = with_key.groupBy("key").agg(F.max_by("value", "offset").alias("value"))
print(f"{with_key.count():,} records with a key are about {latest.count():,} aircraft")
flight_columns(latest).orderBy("tailnum").limit(3).toPandas()

# %% [markdown]
# ### Write the answer back
#
# A result can be wanted by programs that do not know Spark. A topic is a good place for it. `write.format("kafka")` takes a DataFrame with a column `value` and, if you like, `key`, and writes one record for each row. Both must be text or bytes; `to_json(struct(…))` makes text of several columns.
#
# Which topic? A result replaces the result before. So only the last record of each key is of interest. With `cleanup.policy=compact` Kafka keeps at least that: older records of a key go when it cleans up, which it does from time to time. The default, `delete`, removes records by age: after seven days without a run, the answers would be gone.
#
# One thing to know: if a task fails in the middle, a Spark cluster runs it again, and records that it had written come **twice**. If the whole job fails and you run it again, the same happens. With a key for each row and a compacted topic that does no harm: the second record says the same as the first.

# %% [markdown]
# ### Exercise 12.5: Write the answer back
#
# `summary` has one row for each airport and airline. Make the topic `spark-delays`, compacted, with three partitions and three replicas, and write one record for each row: the key is airport and airline with a hyphen between them, such as `EWR-UA`; the value is JSON with the four columns of `summary` and nothing else. Put the topic's name into `topic`.

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
# no key | ended in an error
topic = lab.fresh_topic(
    "spark-delays", partitions=3, replication_factor=3, config={"cleanup.policy": "compact"}
)
rows = summary.select(F.to_json(F.struct("*")).alias("value"))
writer = rows.write.format("kafka").option("kafka.bootstrap.servers", lab.bootstrap)
writer.option("topic", topic).save()

# %% tags=["wrong"]
# one number instead of the row | Look at: to_json(struct(…))
topic = lab.fresh_topic(
    "spark-delays", partitions=3, replication_factor=3, config={"cleanup.policy": "compact"}
)
key = F.concat_ws("-", "origin", "carrier").alias("key")
rows = summary.select(key, F.col("mean_delay").cast("string").alias("value"))
writer = rows.write.format("kafka").option("kafka.bootstrap.servers", lab.bootstrap)
writer.option("topic", topic).save()

# %% tags=["wrong"]
# one partition | has 1 partition
topic = lab.fresh_topic("spark-delays", replication_factor=3, config={"cleanup.policy": "compact"})
rows = summary.select(
    F.concat_ws("-", "origin", "carrier").alias("key"), F.to_json(F.struct("*")).alias("value")
)
rows.write.format("kafka").options(**{"kafka.bootstrap.servers": lab.bootstrap, "topic": topic}).save()

# %% tags=["wrong"]
# one replica | has 1 replica of each partition
topic = lab.fresh_topic("spark-delays", partitions=3, config={"cleanup.policy": "compact"})
rows = summary.select(
    F.concat_ws("-", "origin", "carrier").alias("key"), F.to_json(F.struct("*")).alias("value")
)
rows.write.format("kafka").options(**{"kafka.bootstrap.servers": lab.bootstrap, "topic": topic}).save()

# %% tags=["wrong"]
# compacted and deleted | would also delete it after seven days
both = {"cleanup.policy": "compact,delete"}
topic = lab.fresh_topic("spark-delays", partitions=3, replication_factor=3, config=both)
rows = summary.select(
    F.concat_ws("-", "origin", "carrier").alias("key"), F.to_json(F.struct("*")).alias("value")
)
rows.write.format("kafka").options(**{"kafka.bootstrap.servers": lab.bootstrap, "topic": topic}).save()

# %% tags=["wrong"]
# the key in the value | a value also holds `key`
settings = {"cleanup.policy": "compact"}
topic = lab.fresh_topic("spark-delays", partitions=3, replication_factor=3, config=settings)
with_key = summary.withColumn("key", F.concat_ws("-", "origin", "carrier"))
rows = with_key.select("key", F.to_json(F.struct("*")).alias("value"))
rows.write.format("kafka").options(**{"kafka.bootstrap.servers": lab.bootstrap, "topic": topic}).save()

# %% tags=["wrong"]
# written from Python, and not waited for | no delivery report yet
settings = {"cleanup.policy": "compact"}
topic = lab.fresh_topic("spark-delays", partitions=3, replication_factor=3, config=settings)
producer = lab.producer()
for row in summary.collect():
    producer.produce(topic, json.dumps(row.asDict()), key=f"{row.origin}-{row.carrier}")

# %% tags=["nbval-check-output"]
lab.check.written_back(topic)

# %% [markdown]
# One thing a second run does not mend: a key that the new result does not have stays in the topic, with its last number. An airline that has left New York would be there for ever. To take such a key away, write a tombstone (lab 09): the key, with a null as its value.

# %% [markdown]
# ### The same key, which partition?
#
# The flights came into `january` from a Python client. Now Spark writes one record for each aircraft into a second topic: with the same keys, and with as many partitions. How many aircraft are in the partition with the same number in both topics?

# %%
guess_12f = lab.predict("12.f")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_12f.choose("all")
# END SOLUTION

# %%
second = lab.fresh_topic("spark-aircraft", partitions=3, replication_factor=3)
kafka = {"kafka.bootstrap.servers": lab.bootstrap, "topic": second}
latest.write.format("kafka").options(**kafka).save()

here = read(january).where("key IS NOT NULL").select("key", "partition").distinct()
there = read(second).select("key", F.col("partition").alias("of_spark"))
both = here.join(there, "key").toPandas()
same = int((both["partition"] == both["of_spark"]).sum())
print(f"{same:,} of {len(both):,} aircraft have the same partition in both topics")
guess_12f.compare("all" if same == len(both) else "none" if same == 0 else "about a third")

# %% [markdown]
# Spark writes with Java's client. It takes the partition from the key with the function murmur2, and the Python client with CRC32 (lab 02). With three partitions the two agree by chance, for one key of three. So a program that reads partition 0 of both topics, because it needs the aircraft of only this partition, gets different aircraft, and no error.
#
# Let all writers use one function: a Python producer with `"partitioner": "murmur2_random"` computes as Java does. Or give Spark's writer a column `partition` with the number that you want.

# %% [markdown] explains="SQL, temporary view"
# ### Orders after two faults
#
# Four tills of a shop write 300 orders each into one topic, each with other settings, and both faults of lab 10 hit them. The answers to the orders 100 to 199 get lost when the leader has stored them. Then the leader alone gets the orders 200 to 299, acknowledges what it may, and is killed.
#
# Each till keeps notes on its own disk: which orders it has tried to send, and the report on each.
#
# Spark also understands **SQL**, the language of databases. `createOrReplaceTempView("log")` makes a **temporary view**: a name for a DataFrame, which `spark.sql("SELECT … FROM log")` knows. The result is a DataFrame again.

# %%
from threebrokers.lab.scenarios import TILLS, orders_after_faults

shop = orders_after_faults(lab)
order = F.from_json(F.col("value").cast("string"), "till STRING, number INT, euros INT").alias("order")
place = ["partition", "offset", F.col("key").cast("string").alias("customer")]
in_log = read(shop.topic).select(*place, order).select("partition", "offset", "customer", "order.*")
in_log.createOrReplaceTempView("log")
spark.createDataFrame(shop.notes).createOrReplaceTempView("notes")

for till, settings in TILLS.items():
    print(f"{till:10}", settings)
spark.sql("SELECT * FROM notes LIMIT 3").show()
spark.sql("SELECT * FROM log LIMIT 3").show()

# %% [markdown]
# ### Exercise 12.6: An audit in SQL
#
# What has become of the orders of each till? Make `audit`, a DataFrame of Spark, with one row for each till: the columns `till`, `attempted` (orders that it has tried to send), `stored` (records in the log, every copy counted), `lost` (acknowledged, and not in the log) and `doubled` (copies that are too many). Let Spark make it from the topic and the notes: a larger shop's orders would not fit into Python.
#
# Three decisions are yours. What makes two records the same order? Who knows of an order that is gone? And which numbers count rows, which ones only different orders?

# %%
# TODO: write a query over `notes` and `log`: audit = spark.sql("…")
# BEGIN SOLUTION
audit = spark.sql("""
    WITH copies AS (SELECT till, number, count(*) AS times FROM log GROUP BY till, number)
    SELECT till,
           count(*) AS attempted,
           sum(coalesce(times, 0)) AS stored,
           count_if(report = 'acknowledged' AND times IS NULL) AS lost,
           sum(coalesce(times - 1, 0)) AS doubled
    FROM notes LEFT JOIN copies USING (till, number)
    GROUP BY till ORDER BY till
""")
audit.show()
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# Think of one order first. How often is it in the log: never, once, twice? What does its till say of it? Only then add up, for each till.
#
# </details>
# <details><summary>Another hint</summary>
#
# Group `log` by what makes an order, with `count(*)`. A `LEFT JOIN` from `notes` keeps orders that the log does not have: their count is null. `count_if(…)` counts rows for which something is true, `coalesce(x, 0)` makes 0 of null.
#
# </details>

# %% tags=["wrong"]
# the log knows all that was attempted | an order that is lost is not there
audit = spark.sql("""
    SELECT till, count(DISTINCT number) AS attempted, count(*) AS stored,
           max(number) + 1 - count(DISTINCT number) AS lost,
           count(*) - count(DISTINCT number) AS doubled
    FROM log GROUP BY till
""")

# %% tags=["wrong"]
# attempted is what was acknowledged | also what failed
audit = spark.sql("""
    WITH copies AS (SELECT till, number, count(*) AS times FROM log GROUP BY till, number)
    SELECT till, count(*) AS attempted, sum(coalesce(times, 0)) AS stored,
           count_if(times IS NULL) AS lost, sum(coalesce(times - 1, 0)) AS doubled
    FROM notes LEFT JOIN copies USING (till, number)
    WHERE report = 'acknowledged' GROUP BY till
""")

# %% tags=["wrong"]
# a difference of two counts | a copy too many hides an order that is missing
audit = spark.sql("""
    WITH tried AS (SELECT till, count(*) AS attempted FROM notes GROUP BY till),
         kept AS (SELECT till, count(*) AS stored, count(DISTINCT number) AS orders FROM log GROUP BY till)
    SELECT till, attempted, stored, attempted - stored AS lost, stored - orders AS doubled
    FROM tried JOIN kept USING (till)
""")

# %% tags=["wrong"]
# by the number alone | each till begins at 0
audit = spark.sql("""
    WITH copies AS (SELECT number, count(*) AS times FROM log GROUP BY number)
    SELECT till, count(*) AS attempted, sum(coalesce(times, 0)) AS stored,
           count_if(report = 'acknowledged' AND times IS NULL) AS lost,
           sum(coalesce(times - 1, 0)) AS doubled
    FROM notes LEFT JOIN copies USING (number) GROUP BY till
""")

# %% tags=["wrong"]
# each order once | each order is counted once there
audit = spark.sql("""
    WITH found AS (SELECT DISTINCT till, number AS there FROM log)
    SELECT notes.till, count(*) AS attempted, count(there) AS stored,
           count_if(report = 'acknowledged' AND there IS NULL) AS lost, 0 AS doubled
    FROM notes LEFT JOIN found ON notes.till = found.till AND number = there GROUP BY notes.till
""")

# %% tags=["wrong"]
# what failed is lost | orders that failed, too, and the till was told so
audit = spark.sql("""
    WITH copies AS (SELECT till, number, count(*) AS times FROM log GROUP BY till, number)
    SELECT till, count(*) AS attempted, sum(coalesce(times, 0)) AS stored,
           count_if(times IS NULL) AS lost, sum(coalesce(times - 1, 0)) AS doubled
    FROM notes LEFT JOIN copies USING (till, number) GROUP BY till
""")

# %% tags=["wrong"]
# the first copy, too | the first copy of each order is counted
audit = spark.sql("""
    WITH copies AS (SELECT till, number, count(*) AS times FROM log GROUP BY till, number)
    SELECT till, count(*) AS attempted, sum(coalesce(times, 0)) AS stored,
           count_if(report = 'acknowledged' AND times IS NULL) AS lost,
           sum(CASE WHEN times > 1 THEN times ELSE 0 END) AS doubled
    FROM notes LEFT JOIN copies USING (till, number) GROUP BY till
""")

# %% tags=["wrong"]
# by the record's key | if each customer may order once
audit = spark.sql("""
    WITH copies AS (SELECT till, number, count(*) AS times FROM log GROUP BY till, number),
         twice AS (SELECT till, count(*) - count(DISTINCT customer) AS doubled FROM log GROUP BY till)
    SELECT till, count(*) AS attempted, sum(coalesce(times, 0)) AS stored,
           count_if(report = 'acknowledged' AND times IS NULL) AS lost, max(doubled) AS doubled
    FROM notes LEFT JOIN copies USING (till, number) JOIN twice USING (till) GROUP BY till
""")

# %% tags=["wrong"]
# by the place in the log | no offset is there twice
audit = spark.sql("""
    WITH copies AS (SELECT till, number, count(*) AS times FROM log GROUP BY till, number),
         twice AS (SELECT till, count(*) - count(DISTINCT partition, offset) AS doubled FROM log GROUP BY till)
    SELECT till, count(*) AS attempted, sum(coalesce(times, 0)) AS stored,
           count_if(report = 'acknowledged' AND times IS NULL) AS lost, max(doubled) AS doubled
    FROM notes LEFT JOIN copies USING (till, number) JOIN twice USING (till) GROUP BY till
""")

# %% tags=["wrong"]
# only tills that have lost something | has no row for the till
audit = spark.sql("""
    WITH gone AS (SELECT notes.till, number FROM notes LEFT ANTI JOIN log USING (till, number)
                  WHERE report = 'acknowledged')
    SELECT till, count(*) AS attempted, count(*) AS stored, count(*) AS lost, count(*) AS doubled
    FROM gone GROUP BY till
""")

# %% tags=["wrong"]
# the ledger's answer | went through Python first
counts = [
    (till, len(b.attempted), len(b.stored), len(b.lost), len(b.duplicated))
    for till, b in shop.balances().items()
]
audit = spark.createDataFrame(counts, "till STRING, attempted INT, stored INT, lost INT, doubled INT")

# %% tags=["right"]
# with methods, each number by itself
notes = spark.table("notes")
acknowledged = notes.where("report = 'acknowledged'")
gone = (
    acknowledged.join(in_log, ["till", "number"], "left_anti").groupBy("till").agg(F.count("*").alias("lost"))
)
tried = notes.groupBy("till").agg(F.count("*").alias("attempted"))
different = F.count("*") - F.countDistinct("till", "number")
kept = in_log.groupBy("till").agg(F.count("*").alias("stored"), different.alias("doubled"))
audit = tried.join(kept, "till").join(gone, "till", "left").fillna(0)

# %% tags=["right"]
# the text of the whole value makes an order
values = read(shop.topic).select(F.col("value").cast("string").alias("text"))
values.groupBy("text").count().selectExpr(
    "get_json_object(text, '$.till') AS till", "int(get_json_object(text, '$.number')) AS number", "count"
).createOrReplaceTempView("texts")
audit = spark.sql("""
    SELECT notes.till, count(number) AS attempted, sum(ifnull(count, 0)) AS stored,
           sum(CASE WHEN count IS NULL AND report LIKE 'ack%' THEN 1 ELSE 0 END) AS lost,
           sum(greatest(count - 1, 0)) AS doubled
    FROM notes LEFT JOIN texts USING (till, number) GROUP BY notes.till
""")

# %% tags=["right"]
# by the number in the ledger's header
marked = read(shop.topic, includeHeaders="true").selectExpr("string(headers[0].value) AS mark")
marked = marked.withColumns({"run": F.split("mark", ":")[0], "number": F.split("mark", ":")[2].cast("int")})
runs = spark.createDataFrame(
    [(ledger.run, till) for till, ledger in shop.ledgers.items()], "run STRING, till STRING"
)
marked.join(runs, "run").groupBy("till", "number").count().createOrReplaceTempView("marked")
audit = spark.sql("""
    SELECT till, count(*) AS attempted, sum(coalesce(count, 0)) AS stored,
           count_if(count IS NULL AND report = 'acknowledged') AS lost, sum(greatest(count - 1, 0)) AS doubled
    FROM notes LEFT JOIN marked USING (till, number) GROUP BY till
""")

# %% tags=["nbval-check-output"]
lab.check.orders_audited(shop, audit)

# %% [markdown]
# The ledgers of lab 10 know each record by a number in its header. They say the same:

# %%
from threebrokers.ledger import compare

compare(shop.balances())

# %% [markdown]
# Look at `acks=1` and `idempotent`: both have 300 attempted and 300 stored. The second one has each order once. The first one has lost 100 and doubled 100, and whoever compares the two sums finds nothing.
#
# The till `no retries` has lost nothing: it knows which of its orders failed. But 100 of these are stored, so it cannot simply send them all again.
#
# An audit of your own topics should look the other way, too. A `LEFT JOIN` from the notes leaves out records that nobody has noted, such as those of a till that was forgotten; a `FULL OUTER JOIN` keeps the rows of both sides.

# %% [markdown]
# ### Exercise 12.7: What was taken back
#
# A till writes the payments of a basket in one transaction. If the bank refuses the card, it aborts: the records stay in the log, and a reader of committed records does not get them. Some customers then pay the same with another card. A coffee machine writes into the same topic, without transactions. At the end of a transaction stands a mark in the log, in each of its partitions. It takes an offset, and no reader gets it.
#
# If you say nothing, Spark reads with `read_uncommitted`. Read the topic at both levels, and set:
#
# - `aborted`: a DataFrame of Spark with the aborted records, at least with the columns `partition` and `offset`. Let Spark make it from the topic: a larger shop's payments would not fit into Python.
# - `marks`: how many offsets are marks.
# - `turnover`: how many euros a report may count.

# %%
from threebrokers.lab.scenarios import payments_taken_back

payments = payments_taken_back(lab)
euros = F.from_json(F.col("value").cast("string"), "euros INT")["euros"]
# TODO: read `payments` at both levels; set `aborted`, `marks` and `turnover`
# BEGIN SOLUTION
uncommitted = read(payments)
committed = read(payments, **{"kafka.isolation.level": "read_committed"})
aborted = uncommitted.join(committed, ["partition", "offset"], "left_anti")
marks = sum(end_offsets(lab.bootstrap, payments).values()) - uncommitted.count()
turnover = committed.agg(F.sum(euros)).first()[0]
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# A customer whose card was refused may pay the same again. What tells the two records apart? And which offsets does a reader miss who gets all records?
#
# </details>
# <details><summary>Another hint</summary>
#
# The option is `kafka.isolation.level`. `left.join(right, columns, "left_anti")` keeps the rows of `left` that `right` does not have. The topic is new, so each partition begins at offset 0; `end_offsets(lab.bootstrap, payments)` tells where it ends.
#
# </details>

# %% tags=["wrong"]
# without the prefix | passes over an option that it does not know
uncommitted = read(payments)
committed = read(payments, **{"isolation.level": "read_committed"})
aborted = uncommitted.join(committed, ["partition", "offset"], "left_anti")
marks = sum(end_offsets(lab.bootstrap, payments).values()) - uncommitted.count()
turnover = committed.agg(F.sum(euros)).first()[0]

# %% tags=["wrong"]
# by the value | written again later, and committed
uncommitted = read(payments)
committed = read(payments, **{"kafka.isolation.level": "read_committed"})
aborted = uncommitted.join(committed, "value", "left_anti")
marks = sum(end_offsets(lab.bootstrap, payments).values()) - uncommitted.count()
turnover = committed.agg(F.sum(euros)).first()[0]

# %% tags=["wrong"]
# by the offset alone | each partition counts for itself
uncommitted = read(payments)
committed = read(payments, **{"kafka.isolation.level": "read_committed"})
aborted = uncommitted.join(committed, "offset", "left_anti")
marks = sum(end_offsets(lab.bootstrap, payments).values()) - uncommitted.count()
turnover = committed.agg(F.sum(euros)).first()[0]

# %% tags=["wrong"]
# what was committed | it should have the others
uncommitted = read(payments)
committed = read(payments, **{"kafka.isolation.level": "read_committed"})
aborted = uncommitted.join(committed, ["partition", "offset"], "left_semi")
marks = sum(end_offsets(lab.bootstrap, payments).values()) - uncommitted.count()
turnover = committed.agg(F.sum(euros)).first()[0]

# %% tags=["wrong"]
# values without places | nobody can tell where its records stand
uncommitted = read(payments).select("value")
committed = read(payments, **{"kafka.isolation.level": "read_committed"}).select("value")
aborted = uncommitted.exceptAll(committed)
marks = sum(end_offsets(lab.bootstrap, payments).values()) - uncommitted.count()
turnover = committed.agg(F.sum(euros)).first()[0]

# %% tags=["wrong"]
# every gap is a mark | a reader of the other level gets them
uncommitted = read(payments)
committed = read(payments, **{"kafka.isolation.level": "read_committed"})
aborted = uncommitted.join(committed, ["partition", "offset"], "left_anti")
marks = sum(end_offsets(lab.bootstrap, payments).values()) - committed.count()
turnover = committed.agg(F.sum(euros)).first()[0]

# %% tags=["wrong"]
# no marks at all | are more than the records
uncommitted = read(payments)
committed = read(payments, **{"kafka.isolation.level": "read_committed"})
aborted = uncommitted.join(committed, ["partition", "offset"], "left_anti")
marks = uncommitted.count() - committed.count() - aborted.count()
turnover = committed.agg(F.sum(euros)).first()[0]

# %% tags=["wrong"]
# money that was taken back | money that the bank has refused is in it
uncommitted = read(payments)
committed = read(payments, **{"kafka.isolation.level": "read_committed"})
aborted = uncommitted.join(committed, ["partition", "offset"], "left_anti")
marks = sum(end_offsets(lab.bootstrap, payments).values()) - uncommitted.count()
turnover = uncommitted.agg(F.sum(euros)).first()[0]

# %% tags=["wrong"]
# equal payments once | two coffees are two payments
uncommitted = read(payments)
committed = read(payments, **{"kafka.isolation.level": "read_committed"})
aborted = uncommitted.join(committed, ["partition", "offset"], "left_anti")
marks = sum(end_offsets(lab.bootstrap, payments).values()) - uncommitted.count()
turnover = committed.dropDuplicates(["value"]).agg(F.sum(euros)).first()[0]

# %% tags=["right"]
# with SQL, and the gaps between offsets
read(payments).createOrReplaceTempView("everything")
read(payments, **{"kafka.isolation.level": "read_committed"}).createOrReplaceTempView("paid")
places = "SELECT partition, offset FROM"
aborted = spark.sql(f"{places} everything EXCEPT {places} paid")
gets = spark.sql("SELECT count(*) FROM everything").first()[0]
marks = sum(end for end in end_offsets(lab.bootstrap, payments).values()) - gets
turnover = spark.sql("SELECT sum(int(get_json_object(string(value), '$.euros'))) FROM paid").first()[0]

# %% tags=["right"]
# the sum from Python's reader, which gets committed records only
from threebrokers.kafka.log_reader import read_log

paid = read_log(lab.bootstrap, payments)
turnover = sum(json.loads(record.value)["euros"] for record in paid)
known = spark.createDataFrame([(r.partition, r.offset) for r in paid], "partition INT, offset BIGINT")
aborted = (
    read(payments).join(known, ["partition", "offset"], "left_anti").select("partition", "offset", "value")
)
everything = read_log(lab.bootstrap, payments, isolation="read_uncommitted")
taken = {(record.partition, record.offset) for record in everything}
ends = end_offsets(lab.bootstrap, payments)
marks = sum((p, offset) not in taken for p, end in ends.items() for offset in range(end))

# %% tags=["nbval-check-output"]
lab.check.taken_back(payments, aborted, marks, turnover)

# %%
for level in ("read_uncommitted", "read_committed"):
    records_of_level = read(payments, **{"kafka.isolation.level": level})
    count, total = records_of_level.agg(F.count("*"), F.sum(euros)).first()
    print(f"{level:16}  {count} records, {total} euros")
print("sum of the end offsets:", sum(end_offsets(lab.bootstrap, payments).values()))

# %% [markdown]
# Nothing warns a report that counts money which nobody has paid. Look at the option of every Spark job that reads a topic with transactions, and at its spelling: Spark passes over an option that it does not know.

# %% [markdown]
# ### A report while a transaction is open
#
# Three records without transactions are in a partition. A till begins a transaction and writes one record. Then come five more without transactions. All are acknowledged. A report reads with `read_committed`, from the start up to the end of the log, as in exercise 12.3.

# %%
guess_12g = lab.predict("12.g")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_12g.choose("the 3 before the transaction")
# END SOLUTION

# %%
from threebrokers.spark import count_or_reason

half_open = lab.fresh_topic("spark-open", replication_factor=3)
send(lab, half_open, [(None, b"before")] * 3)
patient = {"transaction.timeout.ms": 900_000}  # it is open until you run the next cell
till = lab.producer({"transactional.id": lab.topic("spark-open"), **patient})
till.init_transactions()
till.begin_transaction()
till.produce(half_open, "not decided yet")
till.flush()
send(lab, half_open, [(None, b"behind")] * 5)

until = json.dumps({half_open: {"0": end_offsets(lab.bootstrap, half_open)[0]}})
# A task hears nothing for two minutes before it gives up, if nobody says otherwise.
careful = {"kafka.isolation.level": "read_committed", "kafkaConsumer.pollTimeoutMs": "3000"}
strict = read(half_open, endingOffsets=until, **careful)
passing_over = read(half_open, endingOffsets=until, failOnDataLoss="false", **careful)  # for the next cell
with ThreadPoolExecutor() as together:  # each waits for 3 s
    counted, lenient = together.map(count_or_reason, (strict, passing_over))
answers = {3: "the 3 before the transaction", 8: "all but the one in the transaction", 9: "all 9"}
guess_12g.compare(answers.get(counted, "none: it fails"))
print(counted)

# %%
without_end = count_or_reason(read(half_open, **careful))
till.commit_transaction()
print(f"with failOnDataLoss=false: {lenient} records; without endingOffsets: {without_end} records")
print(f"after the commit: {count_or_reason(strict)} records")

# %% [markdown]
# Readers of committed records wait where the oldest open transaction begins (lab 11). The end of the log is behind that place. So a task waits for records that nobody gives it, and after `kafkaConsumer.pollTimeoutMs` Spark takes them for lost. With `failOnDataLoss=false` the report passes over them, and nobody reads them later: its next start is `until`.
#
# Without `endingOffsets` a batch of committed records ends where they end now. Where that is, the brokers tell: `list_offsets` of Python's `AdminClient` takes an `isolation_level`. Use these offsets as `endingOffsets`, and as the next start. An audit as in exercise 12.7 needs them for both reads: behind them a reader of committed records gets nothing yet, so the comparison would call all of it aborted.

# %% [markdown]
# ### How alike are two numbers?
#
# Two aircraft whose numbers differ in one letter are easily taken for each other. So compare each number of an airline with every other: how many letters or digits must be changed, added or taken away to make one of the other? This is called the **Levenshtein distance**. Whoever looks for the same customer in two lists, or for a name with a typing error, asks the same.
#
# Spark has a function for it, `F.levenshtein`; Python's own library has none, so the program has the usual one. Both read January, take the aircraft that left from LGA, and count the pairs by airline and distance.

# %%
guess_12h = lab.predict("12.h")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_12h.choose("plain Python, as before")
# END SOLUTION


# %%
def distances(tasks):
    """Let Spark count the pairs by airline and distance; so many tasks compare."""
    # Kept in memory, because the join uses it twice: otherwise the topic would be read twice.
    laguardia = flight_columns(read(january)).where("origin = 'LGA'")
    numbers = laguardia.select("carrier", "tailnum").distinct().cache()
    others = numbers.withColumnRenamed("tailnum", "other")
    # Each task gets a piece of the numbers (repartition), and all of the others (broadcast).
    pairs = numbers.repartition(tasks).join(F.broadcast(others), "carrier").where("tailnum < other")
    distance = F.levenshtein("tailnum", "other").alias("distance")
    counts = pairs.groupBy("carrier", distance).count().collect()
    numbers.unpersist()
    return counts


took = {}
for tasks in (2, 1, 2):  # the first turn also pays for making Java code of the plan, and does not count
    start = perf_counter()
    of_spark = distances(tasks)
    took[tasks] = perf_counter() - start

# %%
from collections import Counter
from itertools import combinations


def levenshtein(one, other):
    """How many letters must be changed, added or taken away to make `other` of `one`."""
    row = range(len(other) + 1)
    for i, letter in enumerate(one, 1):
        above, row = row, [i]
        for j, wanted in enumerate(other, 1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (letter != wanted)))
    return row[-1]


reader = lab.consumer({"group.id": lab.group("spark-alike"), "enable.auto.commit": False})
start, fleets = perf_counter(), defaultdict(set)
for record in to_the_end(reader, january):
    flight = json.loads(record.value())
    if flight["tailnum"] and flight["origin"] == "LGA":
        fleets[flight["carrier"]].add(flight["tailnum"])
pairs = ((name, *pair) for name, fleet in fleets.items() for pair in combinations(sorted(fleet), 2))
of_python = Counter((name, levenshtein(one, other)) for name, one, other in pairs)
python_took = perf_counter() - start

# %%
same = of_python == {(row["carrier"], row["distance"]): row["count"] for row in of_spark}
lab.observed(f"Both count {of_python.total():,} pairs, and as many of each distance", same)
spark_won = "Spark, even with one task" if took[1] < python_took else "Spark, but only with two tasks"
guess_12h.compare(spark_won if min(took.values()) < python_took else "plain Python, as before")
print(f"plain Python: {python_took:.1f} s; Spark, one task: {took[1]:.1f} s, two: {took[2]:.1f} s")
alike = {name: count for (name, distance), count in sorted(of_python.items()) if distance == 1}
print("Pairs with a distance of 1:", alike)

# %% [markdown]
# | work for each record | faster here | why |
# |---|---|---|
# | little: take it apart, add it up | plain Python | its readers of Kafka and JSON are written in C; Spark first makes columns of each record |
# | much, of what Spark has built in | Spark, even with one task | Spark makes compiled Java of it; Python does one small step after another. A second core helps if it is free |
#
# So measure your own work. Python's function can be written so that it takes half the time (measured): Spark's lead is smaller then. A library in C would take that away, too. What stays is that a plain program uses one core, and Spark all that you give it.

# %% [markdown] covers="A020"
# ### When is Kafka the wrong tool?
#
# The question *which hour was the worst of the year?* is asked once a year. The flights lie in a file. Was it wise to send them through three brokers? The next cell answers it from the file, and shows beside it what three brokers use while they wait for the next question.

# %%
from threebrokers.data import flights_file

start = perf_counter()
file = pd.read_csv(flights_file(), usecols=["origin", "hour", "dep_delay"])
airport, hour = file.groupby(["origin", "hour"])["dep_delay"].mean().idxmax()
seconds = perf_counter() - start
memory = sum(broker.rss for broker in lab.cluster.processes().values()) / 1e9

print(f"From the file: {airport} at {hour}, in {seconds:.1f} s. Then the program ends and uses nothing.")
print(f"Three brokers: {memory:.1f} GB of memory, in every hour of the year.")

# %% [markdown]
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
# Compare with [the solution](../solutions/12_spark_batch.ipynb). Then go on to [lab 13: What time is it in a stream?](13_spark_streaming.ipynb).
