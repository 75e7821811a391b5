"""What servers should share files on: EFS, FSx for NetApp ONTAP or FSx for OpenZFS, what each costs, and which fits.

EFS bills what is stored and moved; the others bill what is provisioned, from a minimum on. For many small writes it is not
money that decides but how long each waits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from pydantic import Field

from slackwater.model.estimates import Answer, Estimate, InputError, Inputs, Known, Result, Usd, of
from slackwater.model.money import Change, amount, efs_storage
from slackwater.model.quantities import Rate, Size, size_words
from slackwater.model.units import GIB, HOUR_S
from slackwater.performance import efs, fsx, nfs

REPORT: Final = 'report "Sharing WordPress content on FSx for OpenZFS" (2025-03)'

Service = Literal["efs", "ontap", "openzfs"]
NAMES: Final[Mapping[Service, str]] = {"efs": "EFS", "ontap": "FSx for NetApp ONTAP", "openzfs": "FSx for OpenZFS"}
SUITS: Final[Mapping[Service, str]] = {
    "efs": "serverless and container clients, modest performance",
    "ontap": "SMB or iSCSI beside NFS, many TB, deduplication and tiering, ONTAP's own tools",
    "openzfs": "sharing among EC2 instances, modest size, high performance",
}
PROTOCOLS: Final[Mapping[Service, frozenset[str]]] = {
    "efs": frozenset({"nfs"}),
    "ontap": frozenset({"nfs", "smb", "iscsi"}),
    "openzfs": frozenset({"nfs"}),
}


class SharedStorage(Inputs):
    """What has to be shared, and how hard it is used."""

    capacity: Size = Field(description="What it has to hold")
    throughput: Rate = Field(default="0B/s", validate_default=True, description="What clients move at most, all together")
    iops: int = Field(default=0, ge=0, le=10**9, description="Operations a second at most, all together")
    protocol: Literal["nfs", "smb", "iscsi"] = Field(default="nfs", description="How clients speak to it")
    multi_az: bool = Field(default=False, description="It has to outlive the loss of an Availability Zone")
    small_writes: bool = Field(default=False, description="Many small files are written, each waiting for its acknowledgement")
    read_per_month: Size = Field(default="0B", validate_default=True, description="Read in a month")
    write_per_month: Size = Field(default="0B", validate_default=True, description="Written in a month")


class Offer(Result):
    """One service: what it costs, whether it fits, and why not."""

    monthly_usd: Usd | None = of("A month", "USD/month")
    fits: bool = of("Fits")
    why_not: str | None = of("Why not", null="")
    configuration: str | None = of("As priced", null="none holds it")
    minimums: str = of("At least")
    suits: str = of("Suits")


class Offers(Result):
    """All three."""

    efs: Offer = of("EFS")
    ontap: Offer = of("FSx for NetApp ONTAP")
    openzfs: Offer = of("FSx for OpenZFS")


class Measured(Result):
    """Writes a second that were measured from one client."""

    storage: str = of("Storage")
    provisioned: str = of("Provisioned")
    iops_4_kib: int = of("Of 4 KiB", "writes/s")
    iops_1_mib: int = of("Of 1 MiB", "writes/s")


class SharedStorageChoice(Result):
    """The services, and the cheapest that fits."""

    recommended: Service | None = of("Recommended", null="none")
    why: str = of("Because")
    services: Offers = of("Services")
    measured: list[Measured] = of("Measured, not modelled")
    caveats: list[str] = of("Mind")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Priced:
    """What would be bought, and what speaks against it."""

    configuration: str | None
    units: tuple[Change, ...] | None
    against: tuple[str, ...]
    minimums: str


def work(inputs: SharedStorage, known: Known) -> Answer[SharedStorageChoice]:
    """The same demand on each service."""
    if not inputs.capacity:
        raise InputError("capacity", "nothing to share; at least 1B, such as 64GiB")
    month_s = float(known.hours_per_month) * HOUR_S
    needed = max(inputs.throughput, (inputs.read_per_month + inputs.write_per_month) / month_s)
    deployment = "MULTI_AZ_1" if inputs.multi_az else "SINGLE_AZ_1"
    offers: dict[Service, Offer] = {
        "efs": _offer("efs", _efs(inputs, needed, month_s, known.region), inputs, known),
        "ontap": _offer("ontap", _fsx(fsx.ONTAP[deployment], inputs, needed), inputs, known),
        "openzfs": _offer("openzfs", _fsx(fsx.OPENZFS[deployment], inputs, needed), inputs, known),
    }
    recommended, why = _choice(offers)
    return Answer(
        summary=" ".join([why, *_others(offers, recommended)]),
        result=SharedStorageChoice(
            recommended=recommended,
            why=why,
            services=Offers(efs=offers["efs"], ontap=offers["ontap"], openzfs=offers["openzfs"]),
            measured=[
                Measured(
                    storage=one.storage,
                    provisioned=one.provisioned,
                    iops_4_kib=one.iops_4_kib,
                    iops_1_mib=one.iops_1_mib,
                )
                for one in nfs.MEASURED_IOPS
            ],
            caveats=list(_caveats(inputs, recommended)),
        ),
        assumptions=_assumptions(inputs),
        sources=(
            REPORT,
            'Amazon EFS User Guide, "Amazon EFS performance"',
            'Amazon EFS User Guide, "Amazon EFS quotas"',
            'Amazon FSx for OpenZFS User Guide, "Performance for SSD storage"',
            'Amazon FSx for NetApp ONTAP User Guide, "File system storage capacity and IOPS"',
            'Amazon FSx API Reference, "CreateFileSystem"',
        ),
    )


def _efs(inputs: SharedStorage, needed: float, month_s: float, region: str) -> _Priced:
    """Bursting where it carries this without credits, for nothing; else Elastic, by what moves."""
    one_zone = not inputs.multi_az
    average = efs.metered_bytes(inputs.write_per_month, inputs.read_per_month) / month_s
    sustained = efs.baseline_bytes_per_s(inputs.capacity)
    bursting = (
        max(inputs.throughput, average) <= sustained
        and inputs.iops <= efs.limits("bursting", one_zone=one_zone).operations.write
    )
    mode: efs.EfsMode = "bursting" if bursting else "elastic"
    most = efs.region_allows(mode, region, one_zone=one_zone).write
    most_iops = efs.limits(mode, one_zone=one_zone).operations.write
    against = []
    if inputs.small_writes:
        against.append(
            f"every small write waits for its copies, and {nfs.EFS_OPS_PER_S} operations a second of 4 KiB were measured"
        )
    if mode == "elastic" and needed > most:
        against.append(f"all clients together write {size_words(most)}/s at most")
    if inputs.iops > most_iops:
        against.append(f"it writes {most_iops:,} times a second at most")
    storage = Change(efs_storage("Standard", one_zone=one_zone, elastic=not bursting), amount(inputs.capacity / GIB))
    throughput = () if bursting else efs.elastic_units(inputs.read_per_month, inputs.write_per_month)
    unsaid = "" if bursting or inputs.read_per_month + inputs.write_per_month else " with nothing moved"
    return _Priced(
        configuration=(
            f"{'One Zone' if one_zone else 'Regional'}, {size_words(inputs.capacity)} in Standard,"
            f" {mode.capitalize()} throughput{unsaid}"
        ),
        units=(storage, *throughput),
        against=tuple(against),
        minimums="nothing: it is billed by what is stored",
    )


def _fsx(deployment: fsx.Deployment, inputs: SharedStorage, needed: float) -> _Priced:
    bought = fsx.smallest(deployment, stored_bytes=inputs.capacity, bytes_per_s=needed, iops=inputs.iops)
    largest = deployment.file_servers[-1]
    return _Priced(
        configuration=None
        if bought is None
        else (
            f"{deployment.deployment_type}, {bought.storage_gib:,} GiB of SSD, {bought.throughput_mb_s:,} MB/s,"
            f" {bought.iops:,} IOPS"
        ),
        units=None if bought is None else bought.monthly_units,
        against=()
        if bought
        else (
            (
                f"{deployment.deployment_type} goes up to {deployment.max_gib:,} GiB, {largest.throughput_mb_s:,} MB/s and"
                f" {deployment.max_iops:,} IOPS"
            ),
        ),
        minimums=(
            f"{deployment.min_gib:,} GiB of SSD and {deployment.file_servers[0].throughput_mb_s} MB/s;"
            f" {fsx.INCLUDED_IOPS_PER_GIB} IOPS come with each GiB"
        ),
    )


def _offer(service: Service, priced: _Priced, inputs: SharedStorage, known: Known) -> Offer:
    against = list(priced.against)
    if inputs.protocol not in PROTOCOLS[service]:
        against.insert(0, f"it does not speak {NAMED_PROTOCOLS[inputs.protocol]}")
    return Offer(
        monthly_usd=None if priced.units is None else known.usd(*priced.units),
        fits=not against,
        why_not="; ".join(against) or None,
        configuration=priced.configuration,
        minimums=priced.minimums,
        suits=SUITS[service],
    )


NAMED_PROTOCOLS: Final = {"nfs": "NFS", "smb": "SMB", "iscsi": "iSCSI"}


def _choice(offers: Mapping[Service, Offer]) -> tuple[Service | None, str]:
    """The cheapest that fits; the only one that does, even where its price is unknown."""
    fitting = [service for service, offer in offers.items() if offer.fits]
    if not fitting:
        return None, "Nothing here fits."
    if len(fitting) == 1:
        (only,) = fitting
        return only, f"{NAMES[only]} is the only one that fits: {_price(offers[only])} ({offers[only].configuration})."
    prices = {service: usd for service in fitting if (usd := offers[service].monthly_usd) is not None}
    if not prices:
        return None, f"{_listed(fitting)} fit; no price of them is known."
    cheapest = min(prices, key=lambda service: prices[service])
    unknown = [service for service in fitting if service not in prices]
    why = f"{NAMES[cheapest]} is the cheapest that fits: {_price(offers[cheapest])} ({offers[cheapest].configuration})."
    if unknown:
        why += f" {_listed(unknown)} would fit too, at an unknown price."
    return cheapest, why


def _listed(services: list[Service]) -> str:
    return " and ".join(NAMES[service] for service in services)


def _price(offer: Offer) -> str:
    return "price unknown" if offer.monthly_usd is None else f"{offer.monthly_usd:,.2f} USD a month"


def _others(offers: Mapping[Service, Offer], recommended: Service | None) -> list[str]:
    """Of each service that the choice says nothing about."""
    words = []
    for service, offer in offers.items():
        if not offer.fits:
            words.append(f"{NAMES[service]} does not fit: {offer.why_not}.")
        elif service != recommended and offer.monthly_usd is not None:
            words.append(f"{NAMES[service]} costs {_price(offer)} ({offer.configuration}).")
    return words


def _caveats(inputs: SharedStorage, recommended: Service | None) -> list[str]:
    said = []
    if recommended == "openzfs" and inputs.small_writes:
        said.append(
            f"An export is sync unless async is listed among its options: {nfs.SYNC_OPS_PER_S} small writes a second, whatever"
            f" IOPS are bought; with async {nfs.ASYNC_OPS_PER_S:,}. {nfs.ASYNC_CAVEAT[0].upper()}{nfs.ASYNC_CAVEAT[1:]}"
        )
    if recommended == "ontap" and inputs.small_writes:
        said.append("Nobody measured here how ONTAP takes small writes: try it before you buy it.")
    if not inputs.multi_az:
        said.append("All of these are in one Availability Zone: if it is lost, so are they. Keep backups.")
    return said


def _assumptions(inputs: SharedStorage) -> tuple[str, ...]:
    measured = "; ".join(
        f"{one.storage} ({one.provisioned}) {one.iops_4_kib:,} and {one.iops_1_mib}" for one in nfs.MEASURED_IOPS
    )
    said = [
        f"measured: writes a second of 4 KiB and of 1 MiB from a t3a.small, shown and not modelled: {measured} ({REPORT})",
        "rule: FSx bills what is provisioned, throughput from the first MB/s on, and IOPS above 3 for each GiB",
        "rule: an OpenZFS file server carries what its disks give it for good, without burst",
        "assumed: FSx's MBps are 10^6 bytes a second; AWS does not say",
        "assumed: an ONTAP file server of any throughput carries the IOPS provisioned, first generation, one pair of servers",
        "assumed: the whole capacity is provisioned, on SSD and in EFS Standard; AWS advises to fill FSx to 80 % at most",
        "assumed: EFS has to carry throughput and iops as writes, in Bursting mode without credits",
        "assumed: recommended is the cheapest that fits of those with a known price, or the only one that fits; list prices",
        "assumed: backups and traffic between zones are not counted",
    ]
    if inputs.read_per_month + inputs.write_per_month:
        said.append(f"rule: throughput is no less than the month's average; {_moved(inputs)}")
    else:
        said.append("assumed: nothing moves in the month, as nothing was said of it; Elastic throughput would bill every GiB")
    if inputs.multi_az:
        said.append("rule: at 10,240 MB/s OpenZFS Multi-AZ writes at most 7,500 MB/s")
    return tuple(said)


def _moved(inputs: SharedStorage) -> str:
    return f"{size_words(inputs.read_per_month)} are read in it and {size_words(inputs.write_per_month)} written"


ESTIMATE = Estimate(
    title="What servers should share files on: EFS, FSx for NetApp ONTAP or FSx for OpenZFS",
    inputs=SharedStorage,
    result=SharedStorageChoice,
    work=work,
)
