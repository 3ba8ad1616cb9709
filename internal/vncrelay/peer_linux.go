package vncrelay

import (
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// tcpRTOMax is TCP_RTO_MAX_MS of linux/tcp.h, since Linux 6.15.
const tcpRTOMax = 44

// retransmitMax is how far apart unanswered data is sent again. By the system's own rule the
// interval doubles each time: after an outage of 15 s, a peer that is back would be taken for gone
// before it is sent anything.
const retransmitMax = 5 * time.Second

func limitRetransmit(conn *net.TCPConn) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) { // older systems go on without
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, tcpRTOMax, int(retransmitMax/time.Millisecond))
	})
}

// readAcknowledgements reads TCP_INFO. TCP_USER_TIMEOUT would be simpler, but it also ends a
// connection whose peer answers that its window is closed.
func readAcknowledgements(conn *net.TCPConn) func() (acknowledgements, bool) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil
	}
	return func() (acks acknowledgements, ok bool) {
		err := raw.Control(func(fd uintptr) {
			info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
			if err != nil {
				return
			}
			ok = true
			acks.last = time.Duration(info.Last_ack_recv) * time.Millisecond
			// Segments are sent again at growing intervals. An answer is due only once the latest
			// was sent: before, the peer may have answered an earlier one by a closed window.
			sent := time.Duration(info.Last_data_sent) * time.Millisecond
			acks.unanswered = info.Probes > 0 || info.Unacked > 0 && acks.last > sent
		})
		return acks, ok && err == nil
	}
}
