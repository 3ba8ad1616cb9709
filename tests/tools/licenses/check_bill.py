"""Checks bills of materials with CycloneDX's own library: the schema, strictly, and each package URL.

    python check_bill.py FILE…
"""

import json
import sys

from cyclonedx.model.bom import Bom
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL

for name in sys.argv[1:]:
    with open(name, encoding="utf-8") as file:
        text = file.read()
    wrong = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
    if wrong:
        sys.exit(f"{name}: {wrong}")
    bom = json.loads(text)
    known = len(Bom.from_json(data=bom).components)
    if known != len(bom["components"]) or known < 100:
        sys.exit(f"{name}: the library reads {known} of {len(bom['components'])} components")
    for component in [bom["metadata"]["component"], *bom["components"]]:
        if (url := PackageURL.from_string(component["purl"]).to_string()) != component["purl"]:
            sys.exit(f"{name}: {component['purl']} should be {url}")
    print(f"{name}: {known} components")
