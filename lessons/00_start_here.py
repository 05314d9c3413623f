# %% [markdown]
# # What is a Kafka cluster?
#
# **You will** look at three running servers, kill one of them and bring it back, and run a program beside this page.
#
# *{minutes} minutes, and {further} more if you go further. You need nothing but this page.*
#
# Click into a cell with code and press **Shift+Enter**: it runs, and the next one is chosen. Run them from top to bottom. You cannot damage anything: whatever you break here, a cell mends.

# %%
from threebrokers import open_lab

lab = open_lab("00")

# %% [markdown] covers="A001 A026 D001 D014" explains="broker, cluster"
# ## Three servers
#
# Kafka has three uses:
#
# - It **passes** messages on: one program sends, others read, and none has to know the others.
# - It **keeps** them on disk, so they can be read later, and again.
# - Programs **compute** with them while they arrive.
#
# A server of Kafka is called a **broker**: it takes messages, gives each a number, writes it to its disk, and hands it to those who ask. Brokers that work together are a **cluster**. Here are three, real ones, on your own machine. The panel shows what is true at every moment.

# %%
ticks = lab.fresh_topic("ticks", partitions=3, replication_factor=3)
lab.watch(ticks)

# %% [markdown] explains="replica, leader, follower, in sync, active controller, quorum, voter"
# Below the brokers is `ticks`, a **topic**: a name under which messages are sent. It has three parts, its **partitions**, and each broker has a **replica** of each. One replica is the **leader**, which programs write to. The others are **followers**: they take every message from the leader, and a follower that has them all is **in sync**.
#
# Who leads is decided by the **active controller**, one of the three brokers (♛). The three elect it: each is a **voter**, and two votes of three are enough, which is called a **quorum**. So one broker may be away.

# %% [markdown]
# ## Kill one
#
# Each broker has buttons:
#
# - **kill** ends its process at once, as a crash does.
# - **stop** ends it politely: it gives its work to the others first.
# - **pause** freezes it. It is there, and answers nobody.
# - **start** brings it back.
# - **cut** breaks its links to the other two, which the triangle shows; **heal** mends them. Lab 04 needs that.
#
# The button **dock** opens a second view of the panel beside the notebook, so you see it while you run cells.

# %% [markdown] by_hand="the buttons of the panel"
# ### Exercise 0.1: Kill broker 2
#
# Run the cell. In the new panel, see which partition broker 2 leads, and kill broker 2. Who leads that partition next, and after how long? Then start broker 2 again, wait until its replicas are in sync, and run the check.

# %%
lab.cluster.recover()  # all brokers are up, and each leads a partition
panel = lab.watch(ticks)
# TODO: in the panel below, press kill on broker 2, watch, then press start
# BEGIN SOLUTION
from threebrokers.lab.scenarios import take_down

take_down(lab, 2, [ticks])
lab.cluster.start(2)
lab.cluster.wait_in_sync([ticks])
# END SOLUTION
panel

# %% [markdown]
# <details><summary>Hint</summary>
#
# Which card is the one of broker 2, and which of its buttons is a crash? The line that says who leads now comes after about two seconds. Is every card "up" when you have finished?
#
# </details>
# <details><summary>Another hint</summary>
#
# The buttons can also be written: `lab.cluster.kill(…)` and `lab.cluster.start(…)` take the number of a broker. To begin anew, run the exercise's cell again: it brings all brokers back.
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
lab.cluster.start(3)

# %% tags=["wrong"]
# cut off | only the links of broker 2 were broken
lab.cluster.cut(2)
lab.cluster.heal(2)

# %% tags=["wrong"]
# killed, and cut off when it is back | and its links to the others are broken
lab.cluster.kill(2)
lab.cluster.start(2)
lab.cluster.wait_in_sync([ticks])
lab.cluster.cut(2)

# %% tags=["wrong"]
# killed, and another one left paused | broker 3 is paused
lab.cluster.kill(2)
lab.cluster.start(2)
lab.cluster.pause(3)

# %% tags=["right"]
# killed twice, and leadership given back
for _ in range(2):
    lab.cluster.kill(2)
    lab.cluster.start(2)
lab.cluster.recover()

# %% tags=["nbval-check-output"]
lab.check.broker_killed(panel)

# %% [markdown]
# That was a **check**: it looks at the brokers, and says one of four things.
#
# - ✓ solved, and why it matters.
# - ✗ not yet: what it found, what it expected, and where to look. Try as often as you like.
# - ○ not attempted. *Run All Cells* stops there.
# - ⚠ your answer was not judged: for example a broker is down. It says what to do.
#
# If something behaves strangely, run the page's first cell again. In a terminal, `.venv/bin/threebrokers doctor` looks for known troubles (with conda: `threebrokers doctor`).

# %% [markdown]
# ## Predict first
#
# You learn more from a surprise than from a sentence. So these labs ask what you expect, before it happens. It is no test: your answer stays on this machine, with your progress.
#
# The next cell makes two topics and sends the same 100 notes to both. It ends when the brokers have **acknowledged** all of them: said that they are stored.

# %%
notes = lab.fresh_topic("notes", partitions=3)
careful = lab.fresh_topic("careful-notes", partitions=3, replication_factor=3)
producer = lab.producer()
for number in range(100):
    for topic in (notes, careful):
        producer.produce(topic, f"note {number}", partition=number % 3)  # to 0, 1 and 2 in turn
print(producer.flush(), "notes have no answer yet")

# %% [markdown]
# Now broker 2 will be killed. The next cell asks you, with a button for each answer: press one, then run the cell below it.

# %%
guess_0a = lab.predict("0.a")
# TODO: press the button of your answer, before you run the next cell
# BEGIN SOLUTION
guess_0a.choose("all 100")
# END SOLUTION

# %%
from threebrokers.lab.scenarios import readable, take_down

take_down(lab, 2, [notes, careful])  # kills broker 2, and waits until the others have noticed
left = readable(lab, notes)
print("without broker 2:", left, "of notes,", readable(lab, careful), "of careful-notes")
lab.cluster.wait_in_sync()  # starts broker 2
print("with broker 2:   ", readable(lab, notes), "of notes,", readable(lab, careful), "of careful-notes")
guess_0a.compare({0: "none", 66: "66 or 67", 67: "66 or 67", 100: "all 100"}.get(left))

# %% [markdown] explains="default.replication.factor"
# <details><summary>What happened?</summary>
#
# Look at the two lines that make the topics. Kafka keeps as many replicas as you ask for. `lab.fresh_topic` asks for one unless you say a number. A broker that is asked for no number makes one, too (`default.replication.factor` is 1). So each broker had a third of `notes`, alone. Without broker 2 nobody could read its third. This time it was not lost: the broker came back, and so did its disk.
#
# </details>

# %% [markdown]
# ## A program beside this page
#
# A cell that begins with `%%program` runs as a **process of its own**, as real programs do. What it writes appears under its cell, while you go on working. This one sends 20 ticks to the topic `ticks` and ends. It has `lab`, and nothing else of this page.

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
# ### Exercise 0.2: Kill a program
#
# `clock` is your handle to the program, which starts again here. Wait until it writes that tick 3 is acknowledged, and keep the line that says so as `line`. Then kill the program: do not ask it to stop, and do not wait for its end.

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
# `wait_for` takes the text that you wait for, and returns the line that holds it. `kill` needs nothing. A cell may have several lines; the order matters.
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

# %% tags=["wrong"]
# types the line and kills at once | the clock has not written that line in this try
line = "acknowledged: tick 3"
clock.kill()

# %% tags=["wrong"]
# types the line and lets it come | it should come from the program
clock.wait_for("tick 3")
line = "tick 3"
clock.kill()

# %% tags=["right"]
# looks at the output itself, and kills the process by its number
import os
import signal

lab.wait_until(lambda: "tick 3" in clock.output, what="tick 3")
line = clock.output.splitlines()[2]
os.kill(clock.pid, signal.SIGKILL)

# %% tags=["nbval-check-output"]
lab.check.clock_killed(clock, line)

# %% [markdown]
# ## What to remember
#
# - Three brokers are a cluster. Two of them decide, so one may be away.
# - A partition has as many replicas as you ask for, and only one if you do not ask. If the leader's broker dies, another replica leads, if there is one.
# - A prediction comes before the run, a check looks at the real brokers.

# %% [markdown]
# ## Quiz
#
# Each answer is explained when you have chosen it. The first one is kept with your progress, on this machine.

# %%
lab.quiz()

# %% [markdown]
# ## Going further
#
# You can stop here and go to [the next lab](01_hello_kafka.ipynb). What follows looks behind the panel.

# %% [markdown] covers="E087 B022"
# ### Who is there?
#
# A program that wants to talk to the cluster needs the address of one broker, and that broker tells it all others, in a small cluster of three as in one of hundreds. If this one is down when the program starts, the program reaches nobody: so it is given two or three.

# %%
from confluent_kafka.admin import AdminClient

with AdminClient({"bootstrap.servers": lab.cluster.address(1)}) as admin:
    answer = admin.list_topics(timeout=10)  # topics, and the brokers that keep them
print("cluster:", answer.cluster_id)
for number, broker in sorted(answer.brokers.items()):
    print(f"broker {number} at {broker.host}:{broker.port}")
print("The active controller is broker", lab.cluster.state().quorum_leader)

# %% [markdown] explains="cluster id"
# The **cluster id** was made before the first start, and each broker's empty disk was formatted with it; a broker with another id does not get in. (With Kafka's tools: `kafka-storage random-uuid`, then `kafka-storage format`.)

# %% [markdown] covers="B053 E010" explains="process.roles, node.id, listeners, advertised.listeners"
# ### How a broker is told what it is
#
# To set up three brokers by hand, you install Java, write three files of settings, and start each broker in a terminal of its own. Here `make lab` did it, and brought a Java of its own. These are some of the settings of each broker:
#
# - `process.roles`: it is both broker and controller.
# - `node.id`: its number.
# - `listeners`: where it listens. `advertised.listeners`: the addresses that it tells others. They may differ, for example in containers. Here they do, too: between the two stands a small process of the course that passes everything on, so that lab 04 can cut connections.
# - `controller.quorum.voters`: the three that elect the active controller.

# %%
names = ("process.roles", "node.id", "listeners", "advertised.listeners", "controller.quorum.voters")
for broker in lab.cluster.brokers:
    for setting in lab.cluster.configuration(broker).read_text().splitlines():
        if setting.startswith(names):
            print(setting)
    print()

# %% [markdown] covers="B055"
# A broker is one process: of this machine or, if you chose the compose engine, in a container. It tells what it does in a file. Below, its memory, and the line that it wrote when it had started last:

# %%
for number, process in lab.cluster.processes().items():
    log = lab.cluster.log(number)
    print(f"broker {number}: {process.name}, {round(process.rss / 1e6)} MB, writes to {log.name}:")
    print("    ", [line for line in log.read_text().splitlines() if "Kafka Server started" in line][-1])

# %% [markdown] covers="A010"
# ### What brokers keep
#
# What brokers keep are plain files in a folder, which the setting `log.dirs` names: Kafka needs no other system to store them, neither Hadoop nor a database. Here are the files of `ticks` with their sizes in bytes: the same on each broker.

# %%
for broker in lab.cluster.brokers:
    files = [lab.cluster.segments(ticks, partition, broker)[0] for partition in range(3)]
    print(f"broker {broker}:", {file.parent.name: file.stat().st_size for file in files})

# %% [markdown]
# ### Here and in production
#
# | | here | elsewhere |
# |---|---|---|
# | a broker that was killed is missed after | 1.7 s | 9 s (the default of `broker.session.timeout.ms`) |
# | brokers and controllers | three processes, each is both | controllers apart from brokers: [Kafka's documentation](https://kafka.apache.org/42/operations/kraft) does not recommend both in one for critical clusters |
# | where the three run | on one machine | on three machines |
# | a broker's memory (Java heap) | 256 MB | 1 GB, unless you tell Kafka's start script otherwise |
# | who may connect | everybody on this machine, without a password | encryption, passwords, rights |
#
# What differs is in one table, `threebrokers/cluster/settings.py`, each line with its reason.

# %% [markdown] covers="B004 A008" explains="event sourcing, CQRS, complex event processing (CEP)"
# ### Where this leads
#
# People use Kafka for many things. What makes each of them work is in one of these labs.
#
# | what for | what makes it work | lab |
# |---|---|---|
# | clicks and searches of a web site, read by many | topics and groups | 01, 07 |
# | metrics and logs of many machines, in one place | partitions, batches | 02, 05 |
# | an account of who did what, and of every change of a thing (**event sourcing**) | a log in which nothing is changed, kept long enough | 02, 08 |
# | a cluster that loses nothing | replicas, leaders | 03, 04 |
# | questions about everything that was stored | Spark | 12 |
# | the last value of each key, as a table; with event sourcing such tables are what one reads (**CQRS**) | compaction | 09 |
# | payments: all of it is written, or none | transactions | 11 |
# | finding patterns while events arrive (**complex event processing, CEP**) | Spark's streams | 13, 14 |
#
# Spark comes late on purpose: what a stream can promise depends on what the log promises, so the log comes first.

# %% [markdown] covers="E009 B001 A024 B072"
# <details><summary>To read, if you like: where Kafka comes from</summary>
#
# LinkedIn had many systems, and every one needed data from every other. Around 2010 Jay Kreps, Neha Narkhede and Jun Rao built one log between them. It became open source in 2011. Kreps named it after the writer Franz Kafka: it is a system made for writing. In 2017 its makers spoke of a trillion messages a day at LinkedIn, and of users such as Microsoft, Netflix and Spotify; the numbers are old, and nobody can check them here.
#
# This course uses Apache Kafka itself, version 4.3. Its makers' company, Confluent, sells a larger package with more around it. Of that you meet only the free Python client. The reference for everything is the [documentation of Kafka 4.3](https://kafka.apache.org/43/).
#
# </details>

# %% [markdown]
# Compare with the [solution](../solutions/00_start_here.ipynb). Next lab: [Where did my message go?](01_hello_kafka.ipynb)
