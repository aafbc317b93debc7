"""Volumes for claims, made by hand: nothing on the node provides any."""

import itertools

from tests.support.cluster.client import Client
from tests.support.cluster.node import NAME, Node

_CLASS = "folders"
_DEFAULT = {"storageclass.kubernetes.io/is-default-class": "true"}


class Volumes:
    """Folders of the node, in the class that claims have by default; each is given away once."""

    def __init__(self, client: Client, node: Node) -> None:
        self._client, self._node = client, node
        self._numbers = itertools.count()
        client.apply(
            {
                "apiVersion": "storage.k8s.io/v1",
                "kind": "StorageClass",
                "metadata": {"name": _CLASS, "annotations": _DEFAULT},
                "provisioner": "kubernetes.io/no-provisioner",
                "volumeBindingMode": "WaitForFirstConsumer",
            }
        )

    def add(self, count: int) -> None:
        """Make so many more volumes, larger than anybody asks for."""
        self._client.apply(*(self._volume(next(self._numbers)) for _ in range(count)))

    def _volume(self, number: int) -> dict[str, object]:
        folder = self._node.volumes / str(number)
        folder.mkdir()
        term = {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": [NAME]}]}
        return {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": f"folder-{number}"},
            "spec": {
                "capacity": {"storage": "1Ti"},
                "accessModes": ["ReadWriteOnce"],
                "storageClassName": _CLASS,
                "persistentVolumeReclaimPolicy": "Retain",
                "local": {"path": str(folder)},
                "nodeAffinity": {"required": {"nodeSelectorTerms": [term]}},
            },
        }
