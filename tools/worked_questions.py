"""Questions as users would ask them, with the command that answers each."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question, the command that answers it, and the command's exit status."""

    question: str
    command: str
    about: str = ""
    status: int = 0


TOKYO = "--region ap-northeast-1 --offline"
QUESTIONS = (
    Question(
        question="Will the burst credits of a new EFS file system last for a film?",
        about=(
            "Footage of 147 Mbps, six renditions in two passes, as an encoder writes and reads them: outputs and\n"
            "pass logs are for the half hour that `--duration` names."
        ),
        command=(
            "slackwater estimate efs-credits --input-rate 147Mbps --duration 30min --renditions 6 --passes 2"
            f" --video-share 0.9853 --output-size 1.92GiB --pass-log 0.96GiB {TOKYO}"
        ),
    ),
    Question(
        question="How long can a small file system run flat out?",
        command=f"slackwater estimate efs-credits --stored 100GiB --metered-rate 100MiB/s {TOKYO}",
    ),
    Question(
        question="Does a nightly copy of 200 GiB leave a file system enough credits for the next night?",
        command=f"slackwater estimate efs-credits --stored 50GiB --write-per-day 200GiB {TOKYO}",
    ),
    Question(
        question="Does EFS cost more than the EBS volume it would replace?",
        about="For an hour's job, [encode.csv](encode.csv) says how much was on the file system at each minute.",
        command=(
            "slackwater estimate efs-vs-ebs --usage-csv encode.csv --allocated 40GiB --efs one-zone --hours-per-month "
            "720"
            f" {TOKYO}"
        ),
    ),
    Question(
        question="Which EFS throughput mode should a shared build cache have?",
        command=(
            "slackwater estimate efs-throughput-mode --stored 500GiB --read-per-month 6TiB --write-per-month 2TiB"
            f" --peak 120MiB/s {TOKYO}"
        ),
    ),
    Question(
        question="Why does copying 40,000 small files to EFS take a quarter of an hour, and what would help?",
        command=f"slackwater estimate small-files --files 40000 --bytes 1.1GB --storage efs-one-zone {TOKYO}",
    ),
    Question(
        question="Our document root on FSx for OpenZFS takes 17 minutes to deploy. Is that the sync export?",
        command=f"slackwater estimate small-files --files 38000 --bytes 800MB --storage openzfs-sync {TOKYO}",
    ),
    Question(
        question="What should web servers in two zones share their content on?",
        command=(
            "slackwater estimate shared-storage --capacity 64GiB --throughput 160MB/s --multi-az --small-writes"
            f" --write-per-month 50GiB --read-per-month 500GiB {TOKYO}"
        ),
    ),
    Question(
        question="How long does filling a volume take on this instance, and which size would not slow it down?",
        command=(
            "slackwater estimate ebs-transfer --instance-type m5.large --volume-type gp3 --size 3000GiB --bytes 2TiB"
            f" --volume-throughput 500MiB/s --volume-iops 8000 {TOKYO}"
        ),
    ),
    Question(
        question="How long does a terabyte through a t3.micro take once its network credits are gone?",
        command=(
            f"slackwater estimate network-transfer --instance-type t3.micro --bytes 1TB --needed-rate 350MB/s {TOKYO}"
        ),
    ),
    Question(
        question="And for a program?",
        command=f"slackwater estimate network-transfer --instance-type t3.micro --bytes 1TB --format json {TOKYO}",
    ),
    Question(
        question="What if I mistype?",
        about="The error names each mistake and suggests a valid value. The exit status is 2.",
        command=f"slackwater estimate network-transfer --instance-type t3.mirco --bytes 1TB {TOKYO}",
        status=2,
    ),
    Question(
        question="And if I leave the unit out?",
        command=f"slackwater estimate efs-credits --stored -5GiB --metered-rate 100 {TOKYO}",
        status=2,
    ),
)
