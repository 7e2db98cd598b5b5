"""service.py: predicts, explains, learns and forgets rows of the model in a file."""

import os
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel

import suffice

Row = dict[str, Any]


class LabelledRows(BaseModel):
    rows: list[Row]
    labels: list[str]


class ModelFile:
    """The model in a file, which is loaded again when the file has changed."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.loaded: tuple[Any, Any] = (None, None)

    def model(self) -> Any:
        file = os.stat(self.path)
        version = (file.st_ino, file.st_mtime_ns)
        if self.loaded[0] != version:
            self.loaded = (version, suffice.load(self.path))
        return self.loaded[1]


def create_app(path: str) -> FastAPI:
    app, file = FastAPI(), ModelFile(path)
    file.model()  # fails here if there is no model

    @app.exception_handler(TypeError)
    @app.exception_handler(ValueError)
    def refuse(request: Request, error: Exception) -> JSONResponse:
        return JSONResponse({"detail": str(error)}, status_code=422)

    @app.post("/predict")
    def predict(rows: list[Row]) -> list[dict[str, Any]]:
        model = file.model()
        labels, rows_p = model.predict(rows).tolist(), model.predict_proba(rows).tolist()
        names = [str(label) for label in model.classes_]
        return [
            {"label": label, "p": dict(zip(names, p, strict=True))} for label, p in zip(labels, rows_p, strict=True)
        ]

    @app.post("/explain")
    def explain(row: Row) -> dict[str, Any]:
        explanation = file.model().explain(row)
        parts = [{"feature": name, "value": value, "nats": nats} for name, value, nats in explanation.log_odds(0)]
        return {"sentence": explanation.sentence(0), "contributions": parts}

    @app.post("/learn")
    def learn(more: LabelledRows) -> dict[str, float]:
        with suffice.open(path) as model:
            model.partial_fit(more.rows, more.labels)
        return {"rows": float(model.class_count_.sum())}

    @app.post("/forget")
    def forget(gone: LabelledRows) -> dict[str, float]:
        with suffice.open(path) as model:
            model.forget(gone.rows, gone.labels)
        return {"rows": float(model.class_count_.sum())}

    return app


if "MODEL" in os.environ:
    app = create_app(os.environ["MODEL"])
