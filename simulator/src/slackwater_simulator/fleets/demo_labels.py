"""Label the demo account's planted issues and look-alikes, each with its story."""

from .builder import TYPES, Builder, Resource, name_of

_REPORTS = {
    "credits": "report “Your network I/O credits are zero!” (2023-12-06)",
    "optimised": "report “The performance of EBS-optimised instances” (2017-07-10)",
    "replace": "report “Can Amazon EFS replace EBS?” (2025-02-19)",
    "speed": "report “The speed of EFS at small capacity” (2021-07-26)",
    "wordpress": "report “Sharing WordPress content on FSx for OpenZFS” (2025-03)",
}
# A line with `=` starts a group: a type, and the detectors that should report its resources. Each other line has the
# names of resources (those after `not` are look-alikes), their story, and how it shows. A word in braces is a report.
_TABLE = """
= efs-file-system efs-idle
encode-job-20260912 encode-job-20261003 | \
The spot instance of an encode job was killed and left its file system behind; {replace}. | \
Silent since; publishes real zeros.
encode-job-20260927 encode-job-20261008 | \
The spot instance of an encode job was killed and left its file system behind; {replace}. | \
Silent since; publishes no I/O metrics at all.
reports-2024 | A Regional file system whose users moved to object storage. | Zeros for months.
not billing-close | The monthly closing runs one night and no other. | Three hours of use within the last thirty days.
not partner-exchange | Its metrics are missing altogether. | No telemetry proves nothing.
not encode-job-20261113 | Three days old and not used yet. | Younger than seven days.
not contracts | Quiet, but the source of a replication. | A member of a replication.
not contracts-replica | A replica, written by replication alone. | ReplicationOverwriteProtection is REPLICATING.
not web-content | Web content, read all day. | Busy every day.
= efs-file-system efs-abandoned
transcode-1115 | The spot instance of a transcode job was killed within the last two days; {replace}. | \
No client for six hours; publishes real zeros.
transcode-1116 | The spot instance of a transcode job was killed within the last two days; {replace}. | \
No client for six hours; publishes no I/O metrics at all.
not transcode-1116-b | Its job waits for a spot instance for the second pass. | A client left it an hour ago.
not transcode-1114 | Its job computes for hours between reading and writing. | \
Mounted, though nothing moves: a client is connected.
= efs-file-system efs-orphaned
press-archive | Its mount targets went with the old VPC, three weeks ago, and the data stayed. | \
No mount target; access points do not matter.
not live-clips | Restored two days ago; its stack is still being rolled out. | Younger than seven days.
not masters-replica | A replica, to be mounted when it is needed. | The destination of a replication.
= efs-file-system efs-throughput-mismatch
home-directories | Somebody provisioned throughput on a slow Monday, years ago. | \
What it stores earns three times what it ever used, and half of its burst carries its peaks.
broadcast-ingest | Recordings of the day come in every evening, as fast as they may. | \
At all that is provisioned for hours, every evening; how much it wants nobody can see.
preview-cache | Previews are read day and night, on Elastic throughput. | \
A steady load is billed by the GiB, where a small provisioned amount would carry it.
not premiere-uploads | Festival copies arrive in a quarter of an hour a day. | \
Faster than any burst, and minutes a day: to provision it would cost several times as much.
not edit-bay | Editors work on it around the clock. | \
Near what is provisioned, always, and far above what its size earns.
= ec2-instance ec2-network-throttled
s3-proxy | A T3 proxy sends files to S3 at 350 MB/s, then sticks at 8 MB/s; {credits}. | \
Pinned at its baseline after each burst. The agent's ENA counters rise with it.
s3-proxy-b | A T3 proxy sends files to S3 at 350 MB/s, then sticks at 8 MB/s; {credits}. | \
Pinned at its baseline after each burst. No agent runs on it.
not mirror-shaped | A shaper on the host sends at the baseline, always. | It never sent faster than its baseline.
not thumbnailer | Its CPU credits run out, and its traffic falls with its processor. | \
CPUCreditBalance is 0 in the plateau; the network credits are not.
not warehouse-loader | One TCP flow loads the warehouse at 5 Gbps, the limit of a flow. | \
The plateau is a flow's limit, below the baseline of 6.25 Gbps.
not relay-large | The type without burst that the report changed to: as fast after hours as at first. | \
Peak equals baseline: there is no burst to lose.
not cron-runner | Three minutes at 200 MB/s each hour, and credits enough. | \
Each burst ends by itself and the credits come back.
not edge-cache | Its telemetry has holes of hours, one right after a burst. | No plateau was ever measured.
not upload-gateway | A t3.micro until four days ago, throttled; a t3.medium since. | \
The plateau belongs to the old type; the new one carries the load.
= ec2-instance ec2-network-over-baseline
rushes-upload | The day's rushes go to the post house every evening, for an hour at 250 MB/s. | \
Its baseline is 98 MB/s: the rest comes from credits, and the productions grow.
not partner-delivery | A delivery of three hours, on one evening a week. | Above its baseline on two days of fourteen.
= ebs-volume ebs-surplus-throughput ebs-surplus-iops
orders-db-data | A thousand MiB/s and 6,000 IOPS bought for a migration that ended in spring. | \
At most 54 MiB/s and 432 IOPS in any minute.
= ebs-volume ebs-surplus-throughput
search-index | Half a gigabyte a second, in case of reindexing. | At most 60 MiB/s in any minute.
not nightly-dump | A ten-minute dump every night at full throughput. | \
A percentile would miss it; the greatest minute does not.
not media-cache | Busy, near what was bought. | Minutes at 470 MiB/s.
not queue-journal | Bursts of a second that a minute's sum hides. | Its throughput exceeded check was 1.
= ec2-instance ebs-instance-bound
ingest-worker | Its spool is faster than what carries it: a c5.large ends at 593 MB/s. | \
1,000 MiB/s are paid for on ingest-spool, and 566 can be used at most.
tickets-db | The help desk's database moved to a small instance; its volume kept its forty thousand IOPS. | \
A t3.large carries 15,700 IOPS at most.
not trailers | Six times the throughput that its instance has for good, for a quarter of an hour each night. | \
An m6i.large carries 1,192 MiB/s for half an hour a day.
not wiki | Three volumes as every gp3 is, on an instance that carries two of them. | \
Nothing is paid for 3,000 IOPS and 125 MiB/s.
= ebs-volume ebs-unattached
encode-scratch-01 | Scratch space of an encoder that was replaced. | Detached forty days ago.
encode-scratch-02 | Its twin on the same encoder. | Detached 33 days ago.
orders-replica-old | Outlived its instance. | The instance was terminated 55 days ago.
analytics-io1 | Fast storage for a report nobody runs. | Detached twenty days ago.
legacy-home | Kept from an old server. | Detached 130 days ago, before CloudTrail's ninety days.
golden-image-build | Made for a build that failed. | Never attached.
not audit-evidence | Held for the auditors. | Tagged keep.
not migration-source | Kept until the migration is signed off. | keep-until lies in the future.
not debug-copy | Detached the day before yesterday. | Two days are not seven.
not offsite-copy | Attached for a night every few weeks, for the copy that goes to another building. | \
It came back after five weeks before; four have passed.
= fsx-volume fsx-sync-export
wordpress-content-wordpress | WordPress themes and uploads, published through a sync export; {wordpress}. | \
342 small writes a second, each waiting 2.9 ms; the disk is nearly idle.
wordpress-staging-wordpress | More IOPS and throughput were bought and changed nothing; {wordpress}. | \
Of three client entries the writers' one is sync.
not docs-share-docs | A sync export that is hardly written. | Never a hundred writes a second.
not build-cache-cache | Its disk is what is slow. | DiskIopsUtilization about 95 % while it writes.
not render-scratch-frames | Already async, and busy. | It acknowledges at once.
not video-ingest-raw | Sync, but it writes a mebibyte at a time. | Mean write far above 64 KiB.
= fsx-file-system fsx-surplus-throughput
footage-archive | Its footage was copied in half a year ago, at full speed; since then it is looked at. | \
Its busiest minute used 7 % of 1,280 MB/s.
not month-end | Quiet for a month, and busy in the night of the closing. | \
Five hours at 72 % of its file server and 81 % of its IOPS.
= fsx-file-system fsx-surplus-iops
print-proofs | Somebody bought IOPS when its editors complained; they were waiting for the network. | \
Its disks took 1,300 of 12,000 IOPS at most.
= efs-file-system efs-credits-draining
encode-shared | Encode jobs that used to make a file system each now share one; {replace}. | \
Its 2.1 TiB of credits went in two days, and since then everything waits for 1.5 MiB/s.
press-scans | Newspapers are scanned day and night, and nothing is slow yet. | \
Two thirds of a MiB/s more than it earns, for weeks: the last credits go within days.
not daily-proxies | Every night proxies of the day's footage are made. | \
Half of the credits go each night, and are back by the next.
= efs-file-system efs-cold-data
rushes-2023 | Raw footage of finished films; somebody looks something up now and then. | \
A tenth of it was touched in five weeks, and no policy moves the rest.
not subtitle-corpus | The monthly rebuild of the search index reads every file. | \
What is read once a month from end to end is not cold.
= efs-file-system efs-single-zone-use
lecture-uploads | All its clients moved to one zone, and two mount targets were removed; {speed}. | \
Regional, and its only mount target is in one zone.
not rights-ledger | One mount target, and a replica in case of need. | \
The source of a replication: somebody wants it to outlive more than a zone.
= efs-file-system efs-single-client
wiki-attachments | The wiki runs on one instance, and nothing else reads its attachments; {replace}. | \
One client all the time, never two.
not build-cache | One build server, and every night a second for the release. | Two clients for 25 minutes a night.
= efs-file-system efs-serial-small-writes
session-import | Every night one process writes the day's sessions, a small file at a time; {speed}. | \
370 writes a second for hours, at 2 % of what is permitted.
not comment-drafts | Drafts of comments, which readers save all day. | \
As many small writes, but they come and go with the readers.
= ebs-volume ebs-surplus-iops
rights-ledger | Eight thousand IOPS, because the vendor's manual said so. | At most 640 operations of 8 KiB a second.
not royalty-runs | At rest, but for the night in which royalties are computed. | 8,700 IOPS once a month.
= ebs-volume ebs-outdated-type
catalogue-db | io1, as the template of 2019 had it. | 1,150 IOPS and 18 MiB/s at most: less than every gp3 includes.
covers | gp2, made before there was gp3. | At most 42 MiB/s in any minute.
legacy-erp-data | gp2 on a server that has been there for longer than anybody in the house. | \
At most 24 MiB/s in any five minutes, which is all that a Xen instance publishes.
not feeds-export | gp2 that is read out at full speed every night. | \
gp3 with its 250 MiB/s would cost more at this size.
= ebs-volume ebs-burst-draining
builds-cache | The nightly build takes four hours; its gp2 volume is fast for one. | \
1,700 operations a second use up the credits in an hour; then there are 360.
logs-archive | A month of logs is read every night, for longer than the disk has credits. | \
200 MiB/s last for less than two hours; then there are 39.
not logs-today | A day of logs is written down within the hour, every night. | \
It takes four tenths of the credits, and the day brings them back.
= ec2-instance ec2-ebs-throttled
subtitle-renders | Renders subtitles all night, fast at first and slow till morning; {optimised}. | \
213 MiB/s last for four hours on an m6i.large; then there are 77.
not posters | Twenty-five minutes every night at three times what its instance has for good. | \
Within the half hour that it has its maximum.
= fsx-file-system fsx-idle
render-farm | The render farm's frames, until it moved to local disks in summer. | \
Not one client, and not one operation since.
studio-b-shares | The shares of a studio that was bought, copied to our own a year ago. | \
Not one operation, not even metadata.
not month-end-books | The books, closed once a month. | Two clients, for five hours a month.
not erp-standby | The standby of the ERP's files. | SnapMirror writes it, and no client ever.
= fsx-file-system fsx-oversized
blog-content | WordPress on ONTAP, which starts at 1,024 GiB; {wordpress}. | 56 GiB of it are used.
feature-film | Bought for a feature film, which was delivered in spring. | 300 GiB of 6,000 are left.
not colour-grading | Filled with a film's reels one night a month. | 72 % full in that night.
not film-archive | The archive, in ONTAP's capacity pool. | 18,000 GiB lie behind its least SSD.
= ebs-volume ebs-on-stopped-instance
qa-windows-root | The root volume of a test machine that nobody started again. | Stopped 76 days ago.
qa-data | The test data on it. | Stopped 76 days ago.
not grading-stills | Its workstation rests between two films. | Stopped twelve days ago.
= ebs-volume ebs-idle
subtitle-index-old | Its index moved to the search server in spring; it stayed mounted. | Not one operation in weeks.
not royalty-statements | Written one night a month. | Three hours at 400 operations a second.
= ebs-volume ebs-surplus-size
proxy-footage | Proxies are a twentieth of what was expected when it was ordered. | At most 9 % full.
not master-exports | Nearly empty, but for the night in which the masters go out. | 88 % full that night.
= ec2-instance ec2-idle
codec-trial | A codec was tried on it; the trial ended in the spring. | Its own timers, and two megabytes a day.
book-fair-site | The site of a book fair that is over. | Its own timers, and two megabytes a day.
not audience-report | It writes the audience report, once a month. | Three hours of work 26 days ago.
not font-licences | A licence server, which waits. | Tagged keep.
= ec2-instance ec2-cpu-credits-surcharged
caption-queue | Captions are made all day and night, on a type that is cheap for those who rest. | \
84 % on a baseline of 40 %: an m6i.xlarge costs less than its surcharge.
sales-cubes | It counts the week's sales on Sundays, until late. | \
22 hours at 92 % a week use up more than it earns and may borrow; the week together would fit.
not preview-web | Always a little too busy for its size. | Every other type costs more than what it is charged.
not mail-relay | A process ran in circles for two days. | Charged on three days, three weeks ago.
"""


def label(build: Builder) -> None:
    """Label the resources of the demo account."""
    held: list[Resource] = [*build.volumes, *build.instances, *build.efs, *build.fsx, *build.fsx_volumes]
    named = {(TYPES[type(each)], name_of(each)): each for each in held}
    type_, detectors = "", [""]
    for line in _TABLE.format(**_REPORTS).strip().splitlines():
        if line.startswith("= "):
            type_, *detectors = line.removeprefix("= ").split()
            continue
        names, story, why = line.removeprefix("not ").split(" | ")
        issues, control = ([], detectors[0]) if line.startswith("not ") else (detectors, None)
        for name in names.split():
            build.plant(named[type_, name], story, *issues, control_of=control, why=why)
