# JupyterLab with dsstar, which uses the Python and packages of the image:
#
#   .ci/wheels 0.1.0 dist
#   docker build -t dsstar . && docker run -p 8888:8888 -e OPENAI_API_KEY -e DSSTAR_MODEL dsstar
ARG TAG=2025-03-14
FROM quay.io/jupyter/scipy-notebook:${TAG}
ARG VERSION=0.1.0
RUN --mount=type=bind,source=dist,target=/tmp/dist \
    pip install --no-cache-dir --no-index --find-links /tmp/dist "dsstar==${VERSION}" && dsstar --version
