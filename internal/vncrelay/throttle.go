package vncrelay

import "time"

const (
	// throttleBurst is how much time's worth of bytes may come at once after a pause.
	throttleBurst = 100 * time.Millisecond
	// throttleGrain is how much time's worth is read at once: a larger piece would keep what the viewer
	// waits for behind it.
	throttleGrain = 50 * time.Millisecond
	leastPiece    = 512 // bytes
)

// throttle keeps the bytes for a viewer within a rate, by waiting before they are read: TCP then slows
// the workstation down.
type throttle struct {
	rate int64     // bytes a second
	free time.Time // when the next bytes may be read
}

// newThrottle returns nil for a rate of 0 bits a second, which is none.
func newThrottle(bits int64) *throttle {
	if bits == 0 {
		return nil
	}
	return &throttle{rate: bits / 8}
}

// most is how many bytes may be read at once.
func (t *throttle) most() int {
	if t == nil {
		return bulkSize
	}
	return int(min(max(t.rate*int64(throttleGrain)/int64(time.Second), leastPiece), bulkSize))
}

// wait returns when bytes may be read, or the session has ended.
func (t *throttle) wait(ended <-chan struct{}) {
	left := time.Until(t.free)
	if left <= 0 {
		return
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ended:
	}
}

// took notes that n bytes were read, at most bulkSize.
func (t *throttle) took(n int) {
	if earliest := time.Now().Add(-throttleBurst); t.free.Before(earliest) {
		t.free = earliest
	}
	t.free = t.free.Add(time.Duration(int64(n) * int64(time.Second) / t.rate))
}
