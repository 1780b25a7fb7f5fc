"""Makes a DID document and its key with the official ANP library. Arguments: the port of the web server that publishes it, e1 or k1.

Prints the document and the private key of #key-1 in PEM.
"""

import json
import sys

from anp.authentication import create_did_wba_document


def main(port, profile):
    document, keys = create_did_wba_document('localhost', port=int(port), path_segments=['python'], did_profile=profile)
    for check, got in (('document', document), ('key', keys['key-1'][0].decode())):
        print(json.dumps({'check': check, 'got': got}))


if __name__ == '__main__':
    main(*sys.argv[1:])
