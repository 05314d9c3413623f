"""What lessons import in tests without brokers."""

import ipywidgets
from IPython.display import display


class Notice(ipywidgets.HTML):
    def __repr__(self):
        return ""


class Check:
    def survives_one_broker(self, topic):
        notice = Notice("waiting")
        display(notice)
        notice.close()
        return f"solved {topic}"

    def counts_twice(self, first, second):
        return first + second


class Lab:
    check = Check()

    def fresh_topic(self, name, **settings):
        return name


def open_lab(number):
    return Lab()
