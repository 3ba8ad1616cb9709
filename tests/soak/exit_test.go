package soak

import (
	"syscall"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// soakOpen is how many streams are open when a process ends.
const soakOpen = 10

// exits ends the soak with what one process cannot show: streams that an orderly end interrupts,
// and streams that a kill -9 does, with the same data. The balances are then compared once more:
// the killed streams are charged what they had reserved.
func (s *soak) exits() {
	s.t.Helper()
	set := soakSetup(0)
	set.Secure = false // see setup.logLevel
	// The child's soakHandler passes everything on.
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		c := s.h.Run(set)
		for range soakOpen {
			s.h.Client.Open(s.h.Client.Request(harness.ChatV1, "full", harness.Chat("fake/stall", harness.Streaming))).MustNext()
		}
		c.Signal(signal)
		_ = c.Wait() // its error reports the kill
	}
	s.reload(s.reloads + 1)
	s.settle()
	s.rows.read(s, time.Now())
	if n := s.rows.exits["internal crashed"]; n != soakOpen {
		s.faults.add("%d records of calls that a kill cut off, want %d", n, soakOpen)
	}
	if s.rows.exits["shutting_down estimated"] == 0 {
		s.faults.add("no record of a call that an orderly end cut off: %v", s.rows.exits)
	}
	s.checkIdle("after the kill")
	s.checkBalances("after the kill")
}
