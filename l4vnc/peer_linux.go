package l4vnc

import (
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// readAcknowledgements reads TCP_INFO. TCP_USER_TIMEOUT would be simpler, but it
// also ends a connection whose peer answers that its window is closed.
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
			// Segments are sent again at growing intervals. An answer is due
			// only from the time of the latest on: until then the peer may
			// have answered the one before, by a closed window.
			sent := time.Duration(info.Last_data_sent) * time.Millisecond
			acks.unanswered = info.Probes > 0 || info.Unacked > 0 && acks.last > sent
		})
		return acks, ok && err == nil
	}
}
