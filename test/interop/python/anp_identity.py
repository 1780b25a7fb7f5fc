"""Makes a DID document and its key with the official ANP library. Arguments: the port of the web server that publishes it, e1 or k1.

Prints one JSON object: the document and the private key of #key-1 in PEM.
"""

import json
import sys

from anp.authentication import create_did_wba_document


def main(port, profile):
    document, keys = create_did_wba_document('localhost', port=int(port), path_segments=['python'], did_profile=profile)
    print(json.dumps({'document': document, 'key': keys['key-1'][0].decode()}))


if __name__ == '__main__':
    main(*sys.argv[1:])
