"""Pack the output of `sam build` into a folder for deployment: `python tools/bundle.py BUILT FOLDER`.

To deploy the folder, you need neither SAM nor a clone. FOLDER gets `template.yaml`, `template-member.yaml`, `iam/`,
`remove.py` and `artifacts/`. `artifacts/` has the code, the state machines and the nested template. The name of each
file contains a hash of its content. The templates expect them in the bucket of the parameter ArtifactBucket, below
ArtifactPrefix.
"""

import argparse
import hashlib
import io
import shutil
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from samcli.yamlhelper import yaml_dump, yaml_parse

ROOT = Path(__file__).resolve().parents[1]
ARTIFACTS = "artifacts"
PARAMETERS: Mapping[str, Mapping[str, str]] = {
    "ArtifactBucket": {
        "Type": "String",
        "AllowedPattern": "[a-z0-9.-]{3,63}",
        "Description": "The bucket, in the region of the stack, with the artifacts of this template.",
    },
    "ArtifactPrefix": {
        "Type": "String",
        "Default": "slackwater",
        "AllowedPattern": "[A-Za-z0-9._/-]{1,200}",
        "Description": "The folder of the bucket that holds the artifacts folder.",
    },
}
URIS = {
    "AWS::Serverless::Function": "CodeUri",
    "AWS::Serverless::LayerVersion": "ContentUri",
    "AWS::Serverless::StateMachine": "DefinitionUri",
    "AWS::Serverless::Application": "Location",
}


@dataclass(frozen=True)
class Bundle:
    """A folder to which artifacts are added."""

    folder: Path

    def add(self, name: str, content: bytes) -> str:
        """Store an artifact under a name with a hash of its content, and return the name."""
        stem, _, kind = name.partition(".")
        file = f"{ARTIFACTS}/{stem.lower()}-{hashlib.sha256(content).hexdigest()[:16]}.{kind}"
        (self.folder / file).write_bytes(content)
        return file

    def template(self, built: Path) -> str:
        """Add all files that a built template names, and return a template that expects them in the bucket.

        Args:
            built: A template that `sam build` wrote.
        """
        document = yaml_parse(built.read_text())
        document["Parameters"] |= PARAMETERS
        for name, resource in document["Resources"].items():
            if uri := URIS.get(resource["Type"]):
                properties = resource["Properties"]
                path = built.parent / properties[uri]
                if uri == "Location":
                    key = self.add(f"{name}.yaml", self.template(path).encode())
                    host = "https://s3.${AWS::Region}.${AWS::URLSuffix}"
                    # The type that SAM translates it to. SAM itself supports only a fixed location.
                    resource["Type"] = "AWS::CloudFormation::Stack"
                    del properties[uri]
                    properties["TemplateURL"] = {"Fn::Sub": f"{host}/${{ArtifactBucket}}/${{ArtifactPrefix}}/{key}"}
                    properties["Parameters"] |= {parameter: {"Ref": parameter} for parameter in PARAMETERS}
                else:
                    code = path.is_dir()
                    key = (
                        self.add(f"{name}.zip", zipped(path))
                        if code
                        else self.add(f"{name}.asl.yaml", path.read_bytes())
                    )
                    properties[uri] = {
                        "Bucket": {"Ref": "ArtifactBucket"},
                        "Key": {"Fn::Sub": f"${{ArtifactPrefix}}/{key}"},
                    }
        return str(yaml_dump(document))


def zipped(folder: Path) -> bytes:
    """Return a zip file of a folder. The same files always give the same bytes, whatever their time and path."""
    with zipfile.ZipFile(scratch := io.BytesIO(), "w") as archive:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            entry = zipfile.ZipInfo(path.relative_to(folder).as_posix(), (2020, 2, 2, 0, 0, 0))
            entry.external_attr = 0o100644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, path.read_bytes())
    return scratch.getvalue()


def bundle(built: Path, folder: Path) -> None:
    """Write a bundle of the template that `sam build` wrote into a folder, which is emptied first."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / ARTIFACTS).mkdir(parents=True)
    (folder / "template.yaml").write_text(Bundle(folder).template(built))
    shutil.copy(ROOT / "template-member.yaml", folder)
    shutil.copy(ROOT / "tools" / "remove.py", folder)
    shutil.copytree(ROOT / "iam", folder / "iam")


def main() -> None:
    """Pack the template that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("built", type=Path, help="the template.yaml that `sam build` wrote")
    parser.add_argument("folder", type=Path, help="the bundle's folder; what is in it is deleted")
    asked = parser.parse_args()
    bundle(asked.built, asked.folder)
    print(asked.folder)


if __name__ == "__main__":
    main()
