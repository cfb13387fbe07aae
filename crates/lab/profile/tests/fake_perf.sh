#!/bin/sh
# A `perf` for tests that does what the file `perf.mode` next to it says. It hangs by stopping itself,
# so that killing it leaves no child.
mode=$(cat "$(dirname "$0")/perf.mode")
denied() {
    echo 'Error:' >&2
    echo 'Access to performance monitoring and observability operations is limited.' >&2
    echo 'Consider adjusting /proc/sys/kernel/perf_event_paranoid setting to open' >&2
    exit 255
}
sample() { # the event, then how many stacks, and their outermost frame
    i=0
    while [ $i -lt "$2" ]; do
        printf '   2004008 %s: \n\t  b2ebe server::work (/bin/server)\n\t 1098eb %s (/lib/libc.so.6)\n\n' "$1" "$3"
        i=$((i + 1))
    done
}
case "$mode,$1,$*" in
    denied,stat,*) denied ;;
    no-kernel,stat,*cpu-clock:k*) denied ;;
    other-kernel,stat,*) echo 'WARNING: perf not found for kernel 6.8.0-31' >&2; exit 2 ;;
    no-events,stat,*) echo 'The sys_perf_event_open() syscall returned with 38 (Function not implemented)' >&2; exit 1 ;;
    # To its standard output, as `--log-fd 1` asks.
    counts-nothing,stat,*) echo '<not supported>,,cpu-clock:k,0,100.00,,' ;;
    *,stat,*) echo "1.5,msec,$7,1500,100.00,," ;;

    denied-at-attach,record,*) denied ;;
    no-memory,record,*) echo 'Permission error mapping pages.' >&2; exit 255 ;;
    little-memory,record,*' -m '*) echo 'Permission error mapping pages.' >&2; exit 255 ;;
    # Some versions cannot read what they compressed.
    *,record,*' -z '*) echo 'a compressed recording' >&2; exit 129 ;;
    dies-at-once,record,*) echo 'perf: Segmentation fault' >&2; exit 139 ;;
    hang-at-attach,record,*) kill -STOP $$ ;;
    *,record,*)
        while [ "$1" != -p ]; do shift; done
        echo "$mode" > "$4"
        [ "$mode" = hang-at-end ] && trap '' INT
        while read -r command; do
            case "$mode,$command" in
                dies-in-between,disable) [ -n "$enabled" ] && { echo 'perf: Bus error' >&2; exit 135; } ;;
                server-dies,enable) kill -KILL "$2" ;;
                *,enable) enabled=yes ;;
            esac
            printf 'ack\n\0'
        done ;;

    unreadable,script,*) echo 'incompatible file format' >&2; exit 1 ;;
    nonsense,script,*) echo 'Segmentation fault' ;;
    hang-at-script,script,*) kill -STOP $$ ;;
    confined,script,*) sample cpu-clock:uhppp 300 clone3 ;;
    few,script,*) sample cpu-clock:ppp 20 clone3 ;;
    cut,script,*) sample cycles:P 60 clone3; sample cycles:P 240 tokio::poll ;;
    lost,script,*) sample cycles:P 300 clone3; echo 'PERF_RECORD_LOST lost 90' ;;
    *,script,*) sample cpu-clock:ppp 300 clone3 ;;

    lost,report,*) printf 'cycles:P stats:\n    SAMPLE events:   300\n    LOST_SAMPLES events:   100\n' ;;
    *,report,*) printf 'cycles:P stats:\n    SAMPLE events:   300\n' ;;
esac
