"""Reads an export request of OTLP in JSON by the published definition. Usage: read_traces.py FILE. Prints one JSON line."""

import base64
import json
import sys

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

IDS = ('traceId', 'spanId', 'parentSpanId')


def with_bytes(value):
    """OTLP writes ids as hex; the JSON form of protobuf has bytes in base64."""
    if isinstance(value, list):
        return [with_bytes(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        name: base64.b64encode(bytes.fromhex(each)).decode() if name in IDS else with_bytes(each) for name, each in value.items()
    }


with open(sys.argv[1], encoding='utf-8') as file:
    # Unknown fields and wrong types are errors.
    request = json_format.ParseDict(with_bytes(json.load(file)), ExportTraceServiceRequest())
resource = request.resource_spans[0]
got = [
    {
        'service': next(each.value.string_value for each in resource.resource.attributes if each.key == 'service.name'),
        'scope': scope.scope.name,
        'trace': span.trace_id.hex(),
        'parent': span.parent_span_id.hex(),
        'kind': Span.SpanKind.Name(span.kind),
        'start': span.start_time_unix_nano,
        'attributes': {each.key: json_format.MessageToDict(each.value) for each in span.attributes},
        'events': [event.name for event in span.events],
        'links': [link.span_id.hex() for link in span.links],
        'status': [Status.StatusCode.Name(span.status.code), span.status.message],
        'flags': span.flags,
    }
    for scope in resource.scope_spans
    for span in scope.spans
]
print(json.dumps({'check': 'spans', 'got': got}), flush=True)
