package testcard

import (
	"bufio"
	"image"
	"io"
	"time"
)

// draw answers the viewer's requests until ended is closed or a write fails. A frame is answered
// once, so that there are no more updates a second than frames; without a request nothing is drawn
// and no timer runs.
func (s *session) draw(conn io.Writer, ended <-chan struct{}) error {
	e := encoder{card: s.card, w: bufio.NewWriterSize(conn, writeBuffer)}
	timer := time.NewTimer(0)
	defer timer.Stop()
	var shown moment
	done := int64(-1) // the latest frame that was looked at
	for {
		if !s.waiting() {
			select {
			case <-s.wake:
				continue
			case <-ended:
				return nil
			}
		}
		now := s.now()
		m := moment{frame: s.frameAt(now), clock: now.Unix()}
		if m.frame <= done {
			timer.Reset(s.startOf(done + 1).Sub(now))
			select {
			case <-timer.C:
				continue
			case <-ended:
				return nil
			}
		}
		done = m.frame
		region, as := s.due(shown, &m)
		shown = m
		if len(region) == 0 {
			continue // what changes is outside of what the viewer asked for
		}
		if err := e.update(region, m, as); err != nil {
			return err
		}
	}
}

func (s *session) waiting() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.asked.Empty()
}

// due completes m with the input, notes the changes since the moment that was shown, and returns
// those that the viewer waits for. If there are any, the request is then answered.
func (s *session) due(shown moment, m *moment) ([]image.Rectangle, encoding) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m.input = s.input
	within, left := divide(s.card.changes(s.dirty, shown, *m), s.asked)
	s.dirty = left
	if len(within) > 0 {
		s.asked = image.Rectangle{}
	}
	return within, s.encoding
}

// frameAt is the frame of that time, startOf the first nanosecond of a frame.
func (s *session) frameAt(t time.Time) int64 {
	elapsed := int64(t.Sub(s.start))
	fps := int64(s.card.options.FPS)
	return elapsed/int64(time.Second)*fps + elapsed%int64(time.Second)*fps/int64(time.Second)
}

func (s *session) startOf(frame int64) time.Time {
	fps := int64(s.card.options.FPS)
	second := int64(time.Second)
	return s.start.Add(time.Duration(frame/fps*second + (frame%fps*second+fps-1)/fps))
}
