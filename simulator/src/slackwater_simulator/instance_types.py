"""Hold DescribeInstanceTypes' data for the instance types that the fleets use.

The values are AWS's own answers, republished with moto 5.2.5 (Apache-2.0), read 2026-11-21.
"""

from dataclasses import dataclass

# Columns: name, vCPUs, threads a core, memory MiB, hypervisor, architecture, network baseline and peak Gbps,
# EBS baseline and maximum Mbps, EBS baseline and maximum IOPS, interfaces, addresses an interface,
# current generation, clock GHz, network text, EBS-optimized support.
_TABLE = """
t2.nano 1 1 512 xen x86_64 0.032 0.512 - - - - 2 2 1 2.4 Low_to_Moderate unsupported
t2.micro 1 1 1024 xen x86_64 0.064 1.024 - - - - 2 2 1 2.5 Low_to_Moderate unsupported
t2.small 1 1 2048 xen x86_64 0.128 1.024 - - - - 3 4 1 2.5 Low_to_Moderate unsupported
t2.medium 2 1 4096 xen x86_64 0.256 1.024 - - - - 3 6 1 2.3 Low_to_Moderate unsupported
t2.large 2 1 8192 xen x86_64 0.512 1.024 - - - - 3 12 1 2.3 Low_to_Moderate unsupported
t2.xlarge 4 1 16384 xen x86_64 0.75 1.024 - - - - 3 15 1 2.3 Moderate unsupported
t2.2xlarge 8 1 32768 xen x86_64 1.0 1.024 - - - - 3 15 1 2.3 Moderate unsupported
t3.nano 2 2 512 nitro x86_64 0.032 5.0 43 2085 250 11800 2 2 1 2.5 Up_to_5_Gigabit default
t3.micro 2 2 1024 nitro x86_64 0.064 5.0 87 2085 500 11800 2 2 1 2.5 Up_to_5_Gigabit default
t3.small 2 2 2048 nitro x86_64 0.128 5.0 174 2085 1000 11800 3 4 1 2.5 Up_to_5_Gigabit default
t3.medium 2 2 4096 nitro x86_64 0.256 5.0 347 2085 2000 11800 3 6 1 2.5 Up_to_5_Gigabit default
t3.large 2 2 8192 nitro x86_64 0.512 5.0 695 2780 4000 15700 3 12 1 2.5 Up_to_5_Gigabit default
t3.xlarge 4 2 16384 nitro x86_64 1.024 5.0 695 2780 4000 15700 4 15 1 2.5 Up_to_5_Gigabit default
t3.2xlarge 8 2 32768 nitro x86_64 2.048 5.0 695 2780 4000 15700 4 15 1 2.5 Up_to_5_Gigabit default
t3a.nano 2 2 512 nitro x86_64 0.032 5.0 45 2085 250 11800 2 2 1 2.2 Up_to_5_Gigabit default
t3a.micro 2 2 1024 nitro x86_64 0.064 5.0 90 2085 500 11800 2 2 1 2.2 Up_to_5_Gigabit default
t3a.small 2 2 2048 nitro x86_64 0.128 5.0 175 2085 1000 11800 2 4 1 2.2 Up_to_5_Gigabit default
t3a.medium 2 2 4096 nitro x86_64 0.256 5.0 350 2085 2000 11800 3 6 1 2.2 Up_to_5_Gigabit default
t3a.large 2 2 8192 nitro x86_64 0.512 5.0 695 2780 4000 15700 3 12 1 2.2 Up_to_5_Gigabit default
t3a.xlarge 4 2 16384 nitro x86_64 1.024 5.0 695 2780 4000 15700 4 15 1 2.2 Up_to_5_Gigabit default
t3a.2xlarge 8 2 32768 nitro x86_64 2.048 5.0 695 2780 4000 15700 4 15 1 2.2 Up_to_5_Gigabit default
t4g.nano 2 1 512 nitro arm64 0.032 5.0 43 2085 250 11800 2 2 1 2.5 Up_to_5_Gigabit default
t4g.micro 2 1 1024 nitro arm64 0.064 5.0 87 2085 500 11800 2 2 1 2.5 Up_to_5_Gigabit default
t4g.small 2 1 2048 nitro arm64 0.128 5.0 174 2085 1000 11800 3 4 1 2.5 Up_to_5_Gigabit default
t4g.medium 2 1 4096 nitro arm64 0.256 5.0 347 2085 2000 11800 3 6 1 2.5 Up_to_5_Gigabit default
t4g.large 2 1 8192 nitro arm64 0.512 5.0 695 2780 4000 15700 3 12 1 2.5 Up_to_5_Gigabit default
t4g.xlarge 4 1 16384 nitro arm64 1.024 5.0 695 2780 4000 15700 4 15 1 2.5 Up_to_5_Gigabit default
t4g.2xlarge 8 1 32768 nitro arm64 2.048 5.0 695 2780 4000 15700 4 15 1 2.5 Up_to_5_Gigabit default
m4.large 2 2 8192 xen x86_64 0.45 1.2 450 450 3600 3600 2 10 0 2.4 Moderate default
m4.xlarge 4 2 16384 xen x86_64 0.75 2.8 750 750 6000 6000 4 15 0 2.4 High default
m4.2xlarge 8 2 32768 xen x86_64 1.0 10.0 1000 1000 8000 8000 4 15 0 2.4 High default
m5.large 2 2 8192 nitro x86_64 0.75 10.0 650 4750 3600 18750 3 10 0 3.1 Up_to_10_Gigabit default
m5.xlarge 4 2 16384 nitro x86_64 1.25 10.0 1150 4750 6000 18750 4 15 0 3.1 Up_to_10_Gigabit default
m5.2xlarge 8 2 32768 nitro x86_64 2.5 10.0 2300 4750 12000 18750 4 15 0 3.1 Up_to_10_Gigabit default
m5.4xlarge 16 2 65536 nitro x86_64 5.0 10.0 4750 4750 18750 18750 8 30 0 3.1 Up_to_10_Gigabit default
m5.8xlarge 32 2 131072 nitro x86_64 10.0 10.0 6800 6800 30000 30000 8 30 0 3.1 10_Gigabit default
m6i.large 2 2 8192 nitro x86_64 0.781 12.5 650 10000 3600 40000 3 10 0 3.5 Up_to_12.5_Gigabit default
m6i.xlarge 4 2 16384 nitro x86_64 1.562 12.5 1250 10000 6000 40000 4 15 0 3.5 Up_to_12.5_Gigabit default
m6i.2xlarge 8 2 32768 nitro x86_64 3.125 12.5 2500 10000 12000 40000 4 15 0 3.5 Up_to_12.5_Gigabit default
m6i.4xlarge 16 2 65536 nitro x86_64 6.25 12.5 5000 10000 20000 40000 8 30 0 3.5 Up_to_12.5_Gigabit default
m6i.8xlarge 32 2 131072 nitro x86_64 12.5 12.5 10000 10000 40000 40000 8 30 0 3.5 12.5_Gigabit default
m6i.16xlarge 64 2 262144 nitro x86_64 25.0 25.0 20000 20000 80000 80000 15 50 0 3.5 25_Gigabit default
m6a.large 2 2 8192 nitro x86_64 0.781 12.5 650 10000 3600 40000 3 10 1 3.6 Up_to_12.5_Gigabit default
m6a.xlarge 4 2 16384 nitro x86_64 1.562 12.5 1250 10000 6000 40000 4 15 1 3.6 Up_to_12.5_Gigabit default
m6a.2xlarge 8 2 32768 nitro x86_64 3.125 12.5 2500 10000 12000 40000 4 15 1 3.6 Up_to_12.5_Gigabit default
m7i.large 2 2 8192 nitro x86_64 0.781 12.5 650 10000 3600 40000 3 10 1 3.2 Up_to_12.5_Gigabit default
m7i.xlarge 4 2 16384 nitro x86_64 1.562 12.5 1250 10000 6000 40000 4 15 1 3.2 Up_to_12.5_Gigabit default
m7i.2xlarge 8 2 32768 nitro x86_64 3.125 12.5 2500 10000 12000 40000 4 15 1 3.2 Up_to_12.5_Gigabit default
m7i.4xlarge 16 2 65536 nitro x86_64 6.25 12.5 5000 10000 20000 40000 8 30 1 3.2 Up_to_12.5_Gigabit default
m7i.8xlarge 32 2 131072 nitro x86_64 12.5 12.5 10000 10000 40000 40000 8 30 1 3.2 12.5_Gigabit default
m7g.medium 1 1 4096 nitro arm64 0.52 12.5 315 10000 2500 40000 2 4 1 2.6 Up_to_12.5_Gigabit default
m7g.large 2 1 8192 nitro arm64 0.937 12.5 630 10000 3600 40000 3 10 1 2.6 Up_to_12.5_Gigabit default
m7g.xlarge 4 1 16384 nitro arm64 1.876 12.5 1250 10000 6000 40000 4 15 1 2.6 Up_to_12.5_Gigabit default
m7g.2xlarge 8 1 32768 nitro arm64 3.75 15.0 2500 10000 12000 40000 4 15 1 2.6 Up_to_15_Gigabit default
m7g.4xlarge 16 1 65536 nitro arm64 7.5 15.0 5000 10000 20000 40000 8 30 1 2.6 Up_to_15_Gigabit default
m7g.8xlarge 32 1 131072 nitro arm64 15.0 15.0 10000 10000 40000 40000 8 30 1 2.6 15_Gigabit default
m8g.medium 1 1 4096 nitro arm64 0.52 12.5 315 10000 2500 40000 2 4 1 2.8 Up_to_12.5_Gigabit default
m8g.large 2 1 8192 nitro arm64 0.937 12.5 630 10000 3600 40000 3 10 1 2.8 Up_to_12.5_Gigabit default
m8g.xlarge 4 1 16384 nitro arm64 1.875 12.5 1250 10000 6000 40000 4 15 1 2.8 Up_to_12.5_Gigabit default
m8g.2xlarge 8 1 32768 nitro arm64 3.75 15.0 2500 10000 12000 40000 4 15 1 2.8 Up_to_15_Gigabit default
m8g.4xlarge 16 1 65536 nitro arm64 7.5 15.0 5000 10000 20000 40000 8 30 1 2.8 Up_to_15_Gigabit default
m8i.large 2 2 8192 nitro x86_64 0.937 12.5 650 10000 3600 40000 3 20 1 3.9 Up_to_12.5_Gigabit default
m8i.xlarge 4 2 16384 nitro x86_64 1.875 12.5 1250 10000 6000 40000 4 30 1 3.9 Up_to_12.5_Gigabit default
m8i.2xlarge 8 2 32768 nitro x86_64 3.75 15.0 2500 10000 12000 40000 4 30 1 3.9 Up_to_15_Gigabit default
m8i.4xlarge 16 2 65536 nitro x86_64 7.5 15.0 5000 10000 20000 40000 8 50 1 3.9 Up_to_15_Gigabit default
c4.large 2 2 3840 xen x86_64 0.625 1.2 500 500 4000 4000 3 10 0 2.9 Moderate default
c4.xlarge 4 2 7680 xen x86_64 1.25 2.8 750 750 6000 6000 4 15 0 2.9 High default
c4.2xlarge 8 2 15360 xen x86_64 2.5 10.0 1000 1000 8000 8000 4 15 0 2.9 High default
c4.4xlarge 16 2 30720 xen x86_64 5.0 10.0 2000 2000 16000 16000 8 30 0 2.9 High default
c5.large 2 2 4096 nitro x86_64 0.75 10.0 650 4750 4000 20000 3 10 0 3.4 Up_to_10_Gigabit default
c5.xlarge 4 2 8192 nitro x86_64 1.25 10.0 1150 4750 6000 20000 4 15 0 3.4 Up_to_10_Gigabit default
c5.2xlarge 8 2 16384 nitro x86_64 2.5 10.0 2300 4750 10000 20000 4 15 0 3.4 Up_to_10_Gigabit default
c5.4xlarge 16 2 32768 nitro x86_64 5.0 10.0 4750 4750 20000 20000 8 30 0 3.4 Up_to_10_Gigabit default
c5.9xlarge 36 2 73728 nitro x86_64 12.0 12.0 9500 9500 40000 40000 8 30 0 3.4 12_Gigabit default
c6i.large 2 2 4096 nitro x86_64 0.781 12.5 650 10000 3600 40000 3 10 1 3.5 Up_to_12.5_Gigabit default
c6i.xlarge 4 2 8192 nitro x86_64 1.562 12.5 1250 10000 6000 40000 4 15 1 3.5 Up_to_12.5_Gigabit default
c6i.2xlarge 8 2 16384 nitro x86_64 3.125 12.5 2500 10000 12000 40000 4 15 1 3.5 Up_to_12.5_Gigabit default
c6i.4xlarge 16 2 32768 nitro x86_64 6.25 12.5 5000 10000 20000 40000 8 30 1 3.5 Up_to_12.5_Gigabit default
c6i.8xlarge 32 2 65536 nitro x86_64 12.5 12.5 10000 10000 40000 40000 8 30 1 3.5 12.5_Gigabit default
c6g.medium 1 1 2048 nitro arm64 0.5 10.0 315 4750 2500 20000 2 4 1 2.5 Up_to_10_Gigabit default
c6g.large 2 1 4096 nitro arm64 0.75 10.0 630 4750 3600 20000 3 10 1 2.5 Up_to_10_Gigabit default
c6g.xlarge 4 1 8192 nitro arm64 1.25 10.0 1188 4750 6000 20000 4 15 1 2.5 Up_to_10_Gigabit default
c6g.2xlarge 8 1 16384 nitro arm64 2.5 10.0 2375 4750 12000 20000 4 15 1 2.5 Up_to_10_Gigabit default
c6gn.large 2 1 4096 nitro arm64 3.0 25.0 1235 9500 5000 40000 3 10 0 2.5 Up_to_25_Gigabit default
c6gn.xlarge 4 1 8192 nitro arm64 6.3 25.0 2375 9500 10000 40000 4 15 0 2.5 Up_to_25_Gigabit default
c6gn.2xlarge 8 1 16384 nitro arm64 12.5 25.0 4750 9500 20000 40000 4 15 0 2.5 Up_to_25_Gigabit default
c6gn.4xlarge 16 1 32768 nitro arm64 25.0 25.0 9500 9500 40000 40000 8 30 0 2.5 25_Gigabit default
c7g.medium 1 1 2048 nitro arm64 0.52 12.5 315 10000 2500 40000 2 4 1 2.6 Up_to_12.5_Gigabit default
c7g.large 2 1 4096 nitro arm64 0.937 12.5 630 10000 3600 40000 3 10 1 2.6 Up_to_12.5_Gigabit default
c7g.xlarge 4 1 8192 nitro arm64 1.876 12.5 1250 10000 6000 40000 4 15 1 2.6 Up_to_12.5_Gigabit default
c7g.2xlarge 8 1 16384 nitro arm64 3.75 15.0 2500 10000 12000 40000 4 15 1 2.6 Up_to_15_Gigabit default
c7g.4xlarge 16 1 32768 nitro arm64 7.5 15.0 5000 10000 20000 40000 8 30 1 2.6 Up_to_15_Gigabit default
c7g.8xlarge 32 1 65536 nitro arm64 15.0 15.0 10000 10000 40000 40000 8 30 1 2.6 15_Gigabit default
c7i.large 2 2 4096 nitro x86_64 0.781 12.5 650 10000 3600 40000 3 10 1 3.2 Up_to_12.5_Gigabit default
c7i.xlarge 4 2 8192 nitro x86_64 1.562 12.5 1250 10000 6000 40000 4 15 1 3.2 Up_to_12.5_Gigabit default
c7i.2xlarge 8 2 16384 nitro x86_64 3.125 12.5 2500 10000 12000 40000 4 15 1 3.2 Up_to_12.5_Gigabit default
c7i.4xlarge 16 2 32768 nitro x86_64 6.25 12.5 5000 10000 20000 40000 8 30 1 3.2 Up_to_12.5_Gigabit default
r5.large 2 2 16384 nitro x86_64 0.75 10.0 650 4750 3600 18750 3 10 0 3.1 Up_to_10_Gigabit default
r5.xlarge 4 2 32768 nitro x86_64 1.25 10.0 1150 4750 6000 18750 4 15 0 3.1 Up_to_10_Gigabit default
r5.2xlarge 8 2 65536 nitro x86_64 2.5 10.0 2300 4750 12000 18750 4 15 0 3.1 Up_to_10_Gigabit default
r5.4xlarge 16 2 131072 nitro x86_64 5.0 10.0 4750 4750 18750 18750 8 30 0 3.1 Up_to_10_Gigabit default
r6i.large 2 2 16384 nitro x86_64 0.781 12.5 650 10000 3600 40000 3 10 0 3.5 Up_to_12.5_Gigabit default
r6i.xlarge 4 2 32768 nitro x86_64 1.562 12.5 1250 10000 6000 40000 4 15 0 3.5 Up_to_12.5_Gigabit default
r6i.2xlarge 8 2 65536 nitro x86_64 3.125 12.5 2500 10000 12000 40000 4 15 0 3.5 Up_to_12.5_Gigabit default
r6i.4xlarge 16 2 131072 nitro x86_64 6.25 12.5 5000 10000 20000 40000 8 30 0 3.5 Up_to_12.5_Gigabit default
r6i.8xlarge 32 2 262144 nitro x86_64 12.5 12.5 10000 10000 40000 40000 8 30 0 3.5 12.5_Gigabit default
r7g.large 2 1 16384 nitro arm64 0.937 12.5 630 10000 3600 40000 3 10 0 2.6 Up_to_12.5_Gigabit default
r7g.xlarge 4 1 32768 nitro arm64 1.876 12.5 1250 10000 6000 40000 4 15 0 2.6 Up_to_12.5_Gigabit default
r7g.2xlarge 8 1 65536 nitro arm64 3.75 15.0 2500 10000 12000 40000 4 15 0 2.6 Up_to_15_Gigabit default
r7g.4xlarge 16 1 131072 nitro arm64 7.5 15.0 5000 10000 20000 40000 8 30 0 2.6 Up_to_15_Gigabit default
i3.large 2 2 15616 xen x86_64 0.75 10.0 425 425 3000 3000 3 10 1 2.3 Up_to_10_Gigabit default
i3.xlarge 4 2 31232 xen x86_64 1.25 10.0 850 850 6000 6000 4 15 1 2.3 Up_to_10_Gigabit default
i3.2xlarge 8 2 62464 xen x86_64 2.5 10.0 1700 1700 12000 12000 4 15 1 2.3 Up_to_10_Gigabit default
i4i.large 2 2 16384 nitro x86_64 0.781 10.0 625 10000 2500 40000 3 10 1 3.5 Up_to_10_Gigabit default
i4i.xlarge 4 2 32768 nitro x86_64 1.875 10.0 1250 10000 5000 40000 4 15 1 3.5 Up_to_10_Gigabit default
i4i.2xlarge 8 2 65536 nitro x86_64 4.687 12.0 2500 10000 10000 40000 4 15 1 3.5 Up_to_12_Gigabit default
i4i.4xlarge 16 2 131072 nitro x86_64 9.375 25.0 5000 10000 20000 40000 8 30 1 3.5 Up_to_25_Gigabit default
"""


@dataclass(frozen=True, slots=True)
class EbsLimit:
    """An instance's limits for its volumes: Mbps (decimal) at 128 KiB, operations a second at 16 KiB."""

    baseline_mbps: int
    maximum_mbps: int
    baseline_iops: int
    maximum_iops: int


@dataclass(frozen=True, slots=True)
class InstanceType:
    """One instance type."""

    name: str
    vcpus: int
    threads_per_core: int
    memory_mib: int
    hypervisor: str
    architecture: str
    baseline_gbps: float
    peak_gbps: float
    ebs: EbsLimit | None
    interfaces: int
    addresses: int
    current: bool
    clock_ghz: float
    network_text: str
    ebs_support: str

    @property
    def bursts(self) -> bool:
        """Whether the network's peak is above its baseline."""
        return self.peak_gbps > self.baseline_gbps

    @property
    def nitro(self) -> bool:
        """Whether it runs on Nitro. Only Nitro publishes EBS minima and maxima."""
        return self.hypervisor == "nitro"

    @property
    def cores(self) -> int:
        """Physical cores."""
        return max(1, self.vcpus // self.threads_per_core)

    @property
    def cpu_credits(self) -> bool:
        """Whether it is a burstable (T) type."""
        return self.name.startswith("t")

    @property
    def baseline_bytes(self) -> float:
        """Network baseline in one direction, bytes a second."""
        return self.baseline_gbps * 1e9 / 8

    @property
    def peak_bytes(self) -> float:
        """Network peak in one direction, bytes a second."""
        return self.peak_gbps * 1e9 / 8


def _parse(line: str) -> InstanceType:
    cell = line.split()
    return InstanceType(
        *(cell[0], int(cell[1]), int(cell[2]), int(cell[3]), cell[4], cell[5], float(cell[6]), float(cell[7])),
        None if cell[8] == "-" else EbsLimit(*map(int, cell[8:12])),
        *(int(cell[12]), int(cell[13]), cell[14] == "1", float(cell[15]), cell[16].replace("_", " "), cell[17]),
    )


TYPES = {kind.name: kind for kind in map(_parse, _TABLE.split("\n")[1:-1])}
