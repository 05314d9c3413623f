# %% [markdown] covers="A012 B033"
# # What does a copy protect you from?
#
# **You will** create a topic, kill a broker and see a write refused.
#
# *{minutes} minutes.*

# %%
from threebrokers import open_lab

lab = open_lab("03")

# %% [markdown]
# ## One topic, three copies
#
# A partition is one log.

# %%
shown = "shown"
print(shown)

# %% [markdown]
# ### Exercise 3.1: survive one broker
#
# Create the topic `failsafe`.

# %%
# A comment that stays.
# TODO: make the topic: how many copies?
# BEGIN SOLUTION
copies = 3
topic = lab.fresh_topic("failsafe", replication_factor=copies)
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# How many copies are left when one broker is gone?
#
# </details>
# <details><summary>Another hint</summary>
#
# `replication_factor` is fixed when the topic is made.
#
# </details>

# %% tags=["wrong"]
# one copy | keeps 1 copy
topic = lab.fresh_topic("failsafe", replication_factor=1)

# %% tags=["wrong"]
# two copies | keeps 2 copies
topic = lab.fresh_topic("failsafe", replication_factor=2)

# %% tags=["wrong"]
# another name | is not 'failsafe'
topic = lab.fresh_topic("failsave", replication_factor=3)

# %% tags=["nbval-check-output"]
lab.check.survives_one_broker(topic)

# %% [markdown] fewer="there is only one way to miscount"
# ### Exercise 3.2: count twice
#
# Count, and count again.

# %%
# TODO: count
# BEGIN SOLUTION
second = 2
first = 1
# END SOLUTION
done = True

# %% [markdown]
# <details><summary>Hint</summary>How far?</details>
# <details><summary>Another hint</summary>Begin with one.</details>

# %% tags=["wrong"]
# from zero | begins with 0
first, second = 0, 1

# %% tags=["nbval-check-output"]
lab.check.counts_twice(first, second)

# %% [markdown]
# ## What to remember
#
# - A copy is a whole log.
# - One copy leads.
# - Others follow.

# %% [markdown]
# ## Quiz

# %%
lab.quiz()

# %% [markdown]
# Compare with [the solution](../solutions/03_replication.ipynb).
