"""The one function of LangChain that Agora calls without a language model: a JSON schema out of a function."""

import inspect
import re

TYPES = {int: 'integer', str: 'string', bool: 'boolean', float: 'number', list: 'array', dict: 'object'}


class _Schema:
    def __init__(self, schema):
        self._schema = schema

    def model_json_schema(self):
        return self._schema


def create_schema_from_function(name, function, parse_docstring=True):
    """Description, properties and required names, as pydantic would say them."""
    doc = inspect.cleandoc(function.__doc__ or '')
    described = dict(re.findall(r'^\s+(\w+)(?: \([^)]*\))?: (.+)$', doc, re.MULTILINE)) if parse_docstring else {}
    properties = {}
    required = []
    for parameter in inspect.signature(function).parameters.values():
        annotation = function.__annotations__.get(parameter.name, str)
        properties[parameter.name] = {
            'title': parameter.name.replace('_', ' ').title(),
            'type': TYPES.get(annotation, 'string'),
            'description': described.get(parameter.name, ''),
        }
        if parameter.default is inspect.Parameter.empty:
            required.append(parameter.name)
    return _Schema(
        {
            'title': name,
            'type': 'object',
            'description': doc.split('\n\n')[0],
            'properties': properties,
            'required': required,
        }
    )
