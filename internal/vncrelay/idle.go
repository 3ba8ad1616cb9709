package vncrelay

import (
	"sync"
	"time"
)

// watchIdle calls end when limit has passed since the last input, or since the start while there is
// none. A limit of 0 means never. Input costs nothing: a timer that runs out is set again for what
// is left since the last input.
func watchIdle(limit time.Duration, lastInput func() time.Time, end func()) (stop func()) {
	if limit <= 0 {
		return func() {}
	}
	begun := time.Now()
	var mu sync.Mutex // guards timer
	var timer *time.Timer
	mu.Lock()
	defer mu.Unlock()
	timer = time.AfterFunc(limit, func() {
		mu.Lock()
		defer mu.Unlock()
		if timer == nil { // stopped
			return
		}
		last := lastInput()
		if last.Before(begun) {
			last = begun
		}
		if left := limit - time.Since(last); left > 0 {
			timer.Reset(left)
			return
		}
		end()
	})
	return func() {
		mu.Lock()
		defer mu.Unlock()
		timer.Stop()
		timer = nil
	}
}
