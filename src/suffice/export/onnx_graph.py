"""A graph of ONNX operators, written like NumPy expressions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper

from suffice.export.dialects import ExportError
from suffice.schema import Array

# The operators of these versions are known to ONNX Runtime since 1.14 (2023).
OPSET, OPSET_ML, IR_VERSION = 18, 3, 8
ML = "ai.onnx.ml"

# The operators that ONNX Runtime adds to those of ONNX.
RUNTIME = "com.microsoft"

# A serialized model may have so many bytes.
MOST_BYTES = 2 << 30

# Constants of so many elements are compared with earlier ones.
SMALL = 256

TYPES: dict[str, int] = {
    "float32": TensorProto.FLOAT,
    "float64": TensorProto.DOUBLE,
    "int64": TensorProto.INT64,
    "bool": TensorProto.BOOL,
    "string": TensorProto.STRING,
}


@dataclass(frozen=True)
class Tensor:
    """The result of an operator, by its name in a graph. Operands may be arrays and numbers, which become constants."""

    graph: Graph
    name: str

    def __add__(self, other: Any) -> Tensor:
        return self.graph.add("Add", self, other)

    def __radd__(self, other: Any) -> Tensor:
        return self.graph.add("Add", other, self)

    def __sub__(self, other: Any) -> Tensor:
        return self.graph.add("Sub", self, other)

    def __rsub__(self, other: Any) -> Tensor:
        return self.graph.add("Sub", other, self)

    def __mul__(self, other: Any) -> Tensor:
        return self.graph.add("Mul", self, other)

    def __rmul__(self, other: Any) -> Tensor:
        return self.graph.add("Mul", other, self)

    def __truediv__(self, other: Any) -> Tensor:
        return self.graph.add("Div", self, other)

    def __rtruediv__(self, other: Any) -> Tensor:
        return self.graph.add("Div", other, self)

    def __matmul__(self, other: Any) -> Tensor:
        return self.graph.add("MatMul", self, other)

    def __lt__(self, other: Any) -> Tensor:
        return self.graph.add("Less", self, other)

    def __gt__(self, other: Any) -> Tensor:
        return self.graph.add("Greater", self, other)

    def __and__(self, other: Any) -> Tensor:
        return self.graph.add("And", self, other)

    def __or__(self, other: Any) -> Tensor:
        return self.graph.add("Or", self, other)

    def __invert__(self) -> Tensor:
        return self.graph.add("Not", self)

    def __neg__(self) -> Tensor:
        return self.graph.add("Neg", self)

    def equals(self, other: Any) -> Tensor:
        """Return where elements are equal."""
        return self.graph.add("Equal", self, other)

    def is_nan(self) -> Tensor:
        """Return where elements are NaN."""
        return self.graph.add("IsNaN", self)

    def exp(self) -> Tensor:
        """Return the exponentials."""
        return self.graph.add("Exp", self)

    def log(self) -> Tensor:
        """Return the logarithms; log 0 is −∞."""
        return self.graph.add("Log", self)

    def log1p(self) -> Tensor:
        """Return log(1 + x) for x ≥ 0, also where x is small."""
        whole = 1.0 + self
        # what was lost when 1 was added
        lost = (self - (whole - 1.0)) / whole
        return whole.log() + self.graph.where(self < 1e10, lost, 0.0)

    def at_least(self, least: float) -> Tensor:
        """Return the greater of each element and a number."""
        return self.graph.add("Max", self, least)

    def at_most(self, most: Any) -> Tensor:
        """Return the smaller of each element and another."""
        return self.graph.add("Min", self, most)

    def sum(self, axis: int, keep: bool = False) -> Tensor:
        """Return the sum over an axis."""
        return self.graph.add("ReduceSum", self, np.array([axis]), keepdims=int(keep))

    def max(self, axis: int, keep: bool = False) -> Tensor:
        """Return the maximum over an axis."""
        return self.graph.add("ReduceMax", self, np.array([axis]), keepdims=int(keep))

    def any(self, axis: int, keep: bool = False) -> Tensor:
        """Return whether any element of an axis is true."""
        return self.cast("float32").max(axis, keep) > np.float32(0)

    def cast(self, kind: str) -> Tensor:
        """Return the elements as another type, which `TYPES` names."""
        return self.graph.add("Cast", self, to=TYPES[kind])

    def take(self, places: Any, axis: int = 0) -> Tensor:
        """Return the elements at some places of an axis."""
        return self.graph.add("Gather", self, places, axis=axis)

    def part(self, start: int, stop: int, axis: int) -> Tensor:
        """Return a range of an axis."""
        return self.graph.add("Slice", self, *(np.array([value]) for value in (start, stop, axis)))

    def reshape(self, *shape: int) -> Tensor:
        """Return the elements in another shape."""
        return self.graph.add("Reshape", self, np.array(shape))

    def expand(self, *axes: int) -> Tensor:
        """Return the tensor with additional axes of length 1."""
        return self.graph.add("Unsqueeze", self, np.array(axes))

    def transpose(self) -> Tensor:
        """Return a matrix with rows and columns exchanged."""
        return self.graph.add("Transpose", self, perm=[1, 0])

    def squeeze(self, axis: int) -> Tensor:
        """Return the tensor without an axis of length 1."""
        return self.graph.add("Squeeze", self, np.array([axis]))


class Graph:
    """Operators, constants, inputs and outputs, of which a model is made.

    Parameters
    ----------
    inputs : dict of {str: (str, int)}
        The type and the number of columns of each input, by name.
    """

    def __init__(self, inputs: dict[str, tuple[str, int]]) -> None:
        self.nodes: list[NodeProto] = []
        self.constants: dict[Any, TensorProto] = {}
        self.size = 0
        self.inputs = [
            helper.make_tensor_value_info(name, TYPES[kind], [None, count]) for name, (kind, count) in inputs.items()
        ]
        self.outputs: list[ValueInfoProto] = []
        self.described: list[ValueInfoProto] = []
        self.prefix = "suffice_"
        while any(name.startswith(self.prefix) for name in inputs):
            self.prefix += "_"

    def add(self, kind: str, *operands: Any, domain: str = "", **attributes: Any) -> Tensor:
        """Add an operator with one result; a number or an array among the operands is a constant."""
        names = [self._name(each) for each in operands]
        result = Tensor(self, f"{self.prefix}{len(self.nodes)}")
        self.nodes.append(helper.make_node(kind, names, [result.name], domain=domain, **attributes))
        if domain == RUNTIME:  # whose results ONNX does not know; all are texts [row, place]
            self.described.append(helper.make_tensor_value_info(result.name, TYPES["string"], [None, None]))
        for attribute in self.nodes[-1].attribute if domain else ():
            self._count(attribute.ByteSize())
        return result

    def add_first(self, kind: str, *operands: Any, **attributes: Any) -> Tensor:
        """Add an operator with two results; return the first."""
        return self._add_results(kind, operands, 2, attributes)[0]

    def add_second(self, kind: str, *operands: Any, **attributes: Any) -> Tensor:
        """Add an operator with two results; return the second."""
        return self._add_results(kind, operands, 2, attributes)[1]

    def unique(self, tensor: Tensor) -> tuple[Tensor, Tensor]:
        """Return the different elements of a vector, and the place of each element among them."""
        values, _, places = self._add_results("Unique", (tensor,), 3, {"sorted": 0})
        return values, places

    def _add_results(self, kind: str, operands: Sequence[Any], count: int, attributes: dict[str, Any]) -> list[Tensor]:
        names = [self._name(each) for each in operands]
        results = [Tensor(self, f"{self.prefix}{len(self.nodes)}_{place}") for place in range(count)]
        self.nodes.append(helper.make_node(kind, names, [each.name for each in results], **attributes))
        return results

    def input(self, name: str) -> Tensor:
        """Return an input."""
        return Tensor(self, name)

    def where(self, condition: Tensor, value: Any, other: Any) -> Tensor:
        """Return one of two values, element by element."""
        return self.add("Where", condition, value, other)

    def concat(self, tensors: Sequence[Tensor], axis: int = 1) -> Tensor:
        """Return tensors joined along an axis."""
        return tensors[0] if len(tensors) == 1 else self.add("Concat", *tensors, axis=axis)

    def total(self, tensors: Iterable[Tensor]) -> Tensor:
        """Return the sum of tensors."""
        first, *others = tensors
        for other in others:
            first = first + other
        return first

    def output(self, tensor: Tensor, name: str, kind: str, shape: list[int | None]) -> None:
        """Give a result its name outside."""
        self.nodes.append(helper.make_node("Identity", [tensor.name], [name]))
        self.outputs.append(helper.make_tensor_value_info(name, TYPES[kind], shape))

    def to_model(self, description: str) -> ModelProto:
        """Return the graph as a model."""
        graph = helper.make_graph(
            self.nodes,
            "suffice",
            self.inputs,
            self.outputs,
            list(self.constants.values()),
            description,
            self.described,
        )
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(ML, OPSET_ML)]
        if any(node.domain == RUNTIME for node in self.nodes):
            opsets.append(helper.make_opsetid(RUNTIME, 1))
        return helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="suffice")

    def constant(self, value: Array) -> Tensor:
        """Return an array as a constant; small ones that are equal are stored once."""
        is_small = value.size <= SMALL and value.dtype.kind != "O"
        key = (value.dtype.str, value.shape, value.tobytes()) if is_small else len(self.constants)
        if key not in self.constants:
            name = f"{self.prefix}c{len(self.constants)}"
            self.constants[key] = numpy_helper.from_array(np.asarray(value, order="C"), name)
            self._count(value.nbytes)
        return Tensor(self, self.constants[key].name)

    def _name(self, operand: Any) -> str:
        return operand.name if isinstance(operand, Tensor) else self.constant(np.asarray(operand)).name

    def _count(self, size: int) -> None:
        self.size += size
        if self.size > MOST_BYTES:
            raise ExportError(
                f"the model takes more than {MOST_BYTES / 2**30:g} GiB, which no ONNX file can have; use "
                'structure="naive" or fewer columns'
            )
