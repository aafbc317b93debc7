"""A real one-node Kubernetes cluster on this machine, for the tests and to look at.

Everything that it needs is built or fetched into the user's cache, and nothing is installed. All of it
listens on the loopback interface and on a bridge of its own; the node's processes, mounts and containers
lie in namespaces that end with one process.
"""

from tests.support.cluster.whole import Cluster, cluster

__all__ = ["Cluster", "cluster"]
