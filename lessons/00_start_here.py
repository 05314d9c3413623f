# %% [markdown]
# # What is a Kafka cluster?
#
# **You will** look at three running servers, kill one of them and bring it back, and run a program beside this page.
#
# *15 minutes. You need nothing but this page.*
#
# This page is made of text and of cells with code. Click into a cell and press **Shift+Enter**: the cell runs, and the next one is chosen. Run them from top to bottom. You cannot damage anything: everything here was made to be broken and mended.

# %%
from threebrokers import open_lab

lab = open_lab("00")

# %% [markdown] covers="A001 A026 D014"
# ## Three servers
#
# Kafka moves messages between programs. It does three things with them:
#
# - It **passes them on**: one program sends, others read, and none has to know the others.
# - It **keeps them**, on several servers, so that a server may die.
# - It lets programs **compute** with them while they arrive.
#
# A server of Kafka is called a **broker**, and the brokers that work together are a **cluster**. Here there are three: real brokers, on your own machine. A broker takes messages, gives each a number, writes it to its disk, and hands it to those who ask.
#
# Here they are. The panel is alive: it goes on showing what is true while you read on.

# %%
ticks = lab.fresh_topic("ticks", partitions=3, replication_factor=3)
lab.watch(ticks)

# %% [markdown]
# Each broker has a card. Below the cards is `ticks`, a **topic**: a name under which messages are sent. It has three parts, its **partitions**. Each broker keeps each partition whole: that is a **replica**. One replica is the **leader**, which programs write to; the others are **followers**: they take everything from the leader and are **in sync**. You need no more of this now. Labs 01 to 03 tell it slowly.
#
# ## Kill one
#
# What are three replicas good for? Take a broker away and see. Each card has buttons:
#
# - **kill** ends the broker's process at once, as a crash does.
# - **stop** ends it politely: it gives its work to the others first.
# - **pause** freezes it. It is there, and answers nobody.
# - **start** brings it back.

# %% [markdown] by_hand="the buttons of the panel" covers="A001"
# ### Exercise 0.1: Kill broker 2
#
# Run the cell. In the new panel, kill broker 2 and watch for a few seconds what the other two do. Then start it again, and run the check.

# %%
from threebrokers.lab.scenarios import take_down

lab.cluster.wait_in_sync()
panel = lab.watch(ticks)
# TODO: in the panel below, press kill on broker 2, watch, then press start
# BEGIN SOLUTION
lab.cluster.kill(2)
take_down(lab, 2, [ticks])
lab.cluster.start(2)
lab.cluster.wait_in_sync([ticks])
# END SOLUTION
panel

# %% [markdown]
# <details><summary>Hint</summary>
#
# Which card is the one of broker 2, and which of its buttons is a crash? Wait for the line that says who leads now. Is every card "up" when you have finished?
#
# </details>
# <details><summary>Another hint</summary>
#
# The buttons can also be written: `lab.cluster.kill(…)` and `lab.cluster.start(…)` take the number of a broker. If nothing helps, run the exercise's cell again: it brings all brokers back.
#
# </details>

# %% tags=["wrong"]
# still down | broker 2 is still down
lab.cluster.kill(2)

# %% tags=["wrong"]
# only paused | broker 2 was only paused
lab.cluster.pause(2)
lab.cluster.resume(2)

# %% tags=["wrong"]
# stopped politely | broker 2 was stopped politely
lab.cluster.stop(2)
lab.cluster.start(2)

# %% tags=["wrong"]
# another broker | you killed broker 3 and not broker 2
lab.cluster.kill(3)

# %% tags=["nbval-check-output"]
lab.check.broker_killed(panel)

# %% [markdown]
# That was a **check**. It does not compare texts: it looks at the brokers. It says one of three things.
#
# - ✓ solved, and why the answer matters.
# - ✗ not yet: what it found, what it expected, and where to look. Try as often as you like.
# - ○ not attempted. *Run All Cells* stops there, because the rest is yours.
#
# If brokers ever behave strangely, run the first cell of the page again. Everything that can be wrong with the cluster itself is named by `.venv/bin/threebrokers doctor` in a terminal.
#
# ## Predict first
#
# You learn more from a surprise than from a sentence. So these labs ask what you expect, before it happens. Nobody sees your answer. A wrong one is worth more than none: it tells you what you had in mind.

# %% [markdown] fewer="a prediction can only be left open or come too late" covers="A001"
# ### Exercise 0.2: Choose a prediction
#
# In a moment 100 notes are sent to a new topic. When the brokers have **acknowledged** all of them (they say: it is stored), broker 2 is killed. Choose your answer, and only then run the cell after it.

# %%
guess = lab.predict(
    "Broker 2 is gone. How many of the 100 notes can be read now?",
    {
        "all 100": "Each of the three brokers had a replica of each partition, and two still have theirs.",
        "about 67": "You expect that each broker keeps a third. It would be so with one replica of each partition.",
        "none": "You expect that a cluster needs all its brokers. It needs a leader for each partition.",
    },
    id="0.a",
)
# TODO: press the button of your answer, before you run the next cell
# BEGIN SOLUTION
guess.choose("about 67")
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# How many replicas does a partition have when `replication_factor=3`? And where are they?
#
# </details>
# <details><summary>Another hint</summary>
#
# There is no wrong button in this exercise. If you ran the next cell too early, run the question's cell again, and choose.
#
# </details>

# %% tags=["wrong", "raises-exception"]
# looks first, then chooses | your answer came after the run
guess.compare("all 100")
guess.choose("all 100")

# %%
from threebrokers.kafka.log_reader import read_log

lab.cluster.wait_in_sync()
notes = lab.fresh_topic("notes", partitions=3, replication_factor=3)
producer = lab.producer()
for number in range(100):
    producer.produce(notes, f"note {number}")
left = producer.flush()

take_down(lab, 2, [notes])  # kills broker 2, and waits until the others have noticed
readable = len(read_log(lab.bootstrap, notes))
lab.cluster.wait_in_sync()

print(f"{readable} notes could be read without broker 2.")
guess.compare({0: "none", 100: "all 100"}.get(readable, "about 67"))

# %% tags=["nbval-check-output"]
lab.check.prediction_chosen(guess)

# %% [markdown] covers="A001"
# ## A program beside this page
#
# Real programs do not live in a notebook. A cell that begins with `%%program` runs as a **process of its own**, beside this page. What it writes appears under its cell, while you go on working here. This one sends 20 ticks to the topic `ticks` and then ends.

# %%
# %%program clock
import time

producer = lab.producer()
for number in range(1, 21):
    producer.produce(lab.topic("ticks"), f"tick {number}")
    producer.flush()
    print("acknowledged: tick", number)
    time.sleep(0.4)

# %% [markdown]
# `produce` hands a message over, and `flush` waits until the brokers have acknowledged it. The program has `lab`, and nothing else of this page. Run the cell again and look at one of the panels: the logs of `ticks` grow.

# %% [markdown]
# ### Exercise 0.3: Kill a program
#
# `clock` is your handle to the program, which starts again here. Wait until tick 3 is acknowledged, and keep the line that says so as `line`. Then kill the program: do not ask it to stop, and do not wait for its end.

# %%
clock = lab.program("clock", restart=True)
# TODO: wait for the line about tick 3 and keep it as `line`; then kill the clock
# BEGIN SOLUTION
line = clock.wait_for("tick 3")
clock.kill()
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# What can the handle do? Write `clock.` and press the Tab key. Which method waits for a text, and which one is like the *kill* of a broker?
#
# </details>
# <details><summary>Another hint</summary>
#
# `wait_for` takes the text that you wait for, and returns the line that holds it. `kill` needs nothing. A cell may have several lines.
#
# </details>

# %% tags=["wrong"]
# leaves it running | the clock still runs
line = clock.wait_for("tick 3")

# %% tags=["wrong"]
# waits until it ends | the clock ended by itself
line = clock.wait_for("tick 3")
clock.wait(within=30)

# %% tags=["wrong"]
# asks it to stop | it was asked to stop
line = clock.wait_for("tick 3")
clock.stop()

# %% tags=["wrong"]
# keeps the whole output | more than one line
clock.wait_for("tick 3")
line = clock.output
clock.kill()

# %% tags=["wrong"]
# does not wait for tick 3 | is not about tick 3
line = clock.wait_for("tick 1")
clock.kill()

# %% tags=["nbval-check-output"]
lab.check.clock_killed(clock, line)

# %% [markdown]
# The program is gone. What it had sent is not: a message belongs to the brokers as soon as they have acknowledged it. The cell counts.

# %%
kept = {record.value.decode() for record in read_log(lab.bootstrap, ticks)}
said = set(lab.program("clock").output.replace("acknowledged: ", "").splitlines())
lab.observed("Every tick that was acknowledged to the clock was in the topic", said and said <= kept)

# %% [markdown] covers="E087 B022"
# ## Who is there?
#
# The last look is at the cluster itself. A program that wants to talk to the cluster needs the address of one broker. That broker tells it the others.

# %%
from confluent_kafka.admin import AdminClient

with AdminClient({"bootstrap.servers": lab.cluster.address(1)}) as admin:
    answer = admin.list_topics(timeout=10)  # topics, and the brokers that keep them
print("cluster:", answer.cluster_id)
for number, broker in sorted(answer.brokers.items()):
    print(f"broker {number} at {broker.host}:{broker.port}")
print("The active controller is broker", lab.cluster.state().quorum_leader)

# %% [markdown] covers="B053 B055 E010 B077"
# The **cluster id** is the name that this cluster gave itself. One of the three decides in all matters of the cluster: the **active controller**. The three elect it, so each is a **voter**, and two votes of three are enough: that is a **quorum**. Three brokers are the least for real use, since one may then be away. Large clusters have hundreds.
#
# Old courses let you install Java, write three files and keep a terminal open for each broker. Here `make lab` did it, and brought a Java of its own. This is a part of what broker 1 was told. (`process.roles`: it is both broker and controller. `node.id`: its number. `listeners`: where it can be reached. Before its first start the empty disk was formatted with the cluster's id.) Below that: what runs each broker, which is a process of this machine or, if you chose the compose engine, a container.

# %%
for line in lab.cluster.configuration(1).read_text().splitlines():
    if line.startswith(("process.roles", "node.id", "listeners")):
        print(line)
print()
for number, process in lab.cluster.processes().items():
    megabytes, log = round(process.rss / 1e6), lab.cluster.log(number)
    print(f"broker {number}: {process.name}, {megabytes} MB, tells what it does in {log.name}")

# %% [markdown] covers="A010"
# What brokers keep are plain files. Here are those of `ticks` with their sizes in bytes: the same on each broker.

# %%
for broker in lab.cluster.brokers:
    files = [lab.cluster.segments(ticks, partition, broker)[0] for partition in range(3)]
    print(f"broker {broker}:", {file.parent.name: file.stat().st_size for file in files})

# %% [markdown] covers="B004 A008"
# ## Where this leads
#
# People use Kafka for many things. What makes each of them work is in one of these labs.
#
# | what for | what makes it work | lab |
# |---|---|---|
# | clicks and searches of a web site, read by many | topics and groups | 01, 07 |
# | metrics and logs of many machines, in one place | partitions, batches | 02, 05 |
# | an account of who did what, and of every change of a thing | a log in which nothing is changed | 02 |
# | a cluster that loses nothing | replicas, leaders | 03, 04 |
# | the last value of each key, as a table | compaction | 09 |
# | writing in one place and reading in another | transactions, streams | 11, 15 |
# | finding patterns while events arrive | Spark | 12 to 15 |
#
# Spark comes late, and that is meant. What a stream can promise rests on what the log promises, so the log comes first.

# %% [markdown] covers="E009 B001 A024 B072"
# <details><summary>To read, if you like: where Kafka comes from</summary>
#
# LinkedIn had many systems, and every one needed data from every other. Around 2010 Jay Kreps, Neha Narkhede and Jun Rao built one log between them. It became open source in 2011. Kreps named it after the writer Franz Kafka: it is a system made for writing. In 2017 its makers spoke of a trillion messages a day at LinkedIn, and of users such as Microsoft, Netflix and Spotify; the numbers are old, and nobody can check them here.
#
# This course uses Apache Kafka itself, version 4.3. Its makers' company, Confluent, sells a larger package with more around it. Of that you meet only the free Python client. The reference for everything is the [documentation of Kafka 4.3](https://kafka.apache.org/43/).
#
# </details>

# %% [markdown]
# ## What to remember
#
# - Three brokers are a cluster. Each partition has one leader and, if you ask for them, more replicas on other brokers.
# - One broker may die: another one leads, and what was acknowledged is still there.
# - A prediction comes before the run, a check looks at the real brokers, and anything may be tried again.

# %% [markdown]
# ## Quiz
#
# 1. Somebody says: "Kafka belongs to Hadoop, so I must install that first." What have you seen?
#
# <details><summary>Answer</summary>
#
# It needs neither Hadoop nor its file system. A broker is one process, and its data are plain files in a folder.
#
# </details>
#
# 2. You gave a program the address of broker 1 only. Can it use broker 3?
#
# <details><summary>Answer</summary>
#
# Yes: broker 1 tells it all addresses. It needs a second address only if broker 1 is away when the program starts. So real programs are given two or three.
#
# </details>
#
# 3. What is the difference between *kill* and *stop*?
#
# <details><summary>Answer</summary>
#
# A broker that is stopped gives its work to the others first. One that is killed cannot: the others have to notice that it is silent, which took about two seconds.
#
# </details>
#
# 4. The page that sent 100 notes is closed, and its program is gone. And the notes?
#
# <details><summary>Answer</summary>
#
# The brokers keep them. Who sent them and who reads them does not matter to a topic.
#
# </details>

# %% [markdown]
# Compare with the [solution](../solutions/00_start_here.ipynb). Next lab: [Where did my message go?](01_hello_kafka.ipynb)
