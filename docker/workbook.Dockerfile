# The course in a container: JupyterLab, three brokers and Spark, as processes of a user who is not root.
#
#   docker compose up workbook
#
# The base is published for amd64 and arm64, and requirements.txt has wheels for both.
FROM python:3.11-slim-bookworm

RUN useradd --create-home --uid 1000 learner && install --directory --owner learner /course

USER learner
WORKDIR /course
COPY --chown=learner . .
# As `make lab` does it: the packages with their sha256, the jars with theirs, and what makes starts quick.
# What is made here belongs to the learner, and so do volumes that are mounted there for the first time.
RUN python3 -m tools.setup runtime && mkdir -p work /home/learner/.cache/threebrokers/benches

EXPOSE 8888
CMD [".venv/bin/threebrokers", "lab"]
