package replay

import (
	"encoding/json"
	"testing"
	"time"
)

func TestPlayhead(t *testing.T) {
	begin := time.Unix(1000, 0)
	for _, c := range []struct {
		name   string
		after  time.Duration // since the frames up to the position were decoded
		orders string
		later  time.Duration // since the order
		want   time.Duration
		due    time.Duration // of a frame at 30 s
	}{
		{"plays", 5 * second, `{}`, 5 * second, 10 * second, 20 * second},
		{"paused", 5 * second, `{"play":false}`, 5 * second, 5 * second, forever},
		{"paused twice", 5 * second, `{"play":false,"speed":1}`, 9 * second, 5 * second, forever},
		{"faster", 5 * second, `{"speed":4}`, 5 * second, 25 * second, 5 * second / 4},
		{"too fast", 0, `{"speed":1e300}`, second, 16 * second, 14 * second / 16},
		{"too slow", 0, `{"speed":-3}`, second, second, 29 * second},
		{"seek", 5 * second, `{"at":29000}`, second, 30 * second, 0},
		{"seek too far", 0, `{"at":9223372036854775807}`, 0, time.Minute, 0},
		{"seek before the beginning", 5 * second, `{"at":-9223372036854775808}`, second, second, 29 * second},
		{"skips", 5 * second, `{"skip":24999}`, 0, 30*second - idleLead, idleLead},
		{"skips less than the lead", 29*second + 800*time.Millisecond, `{"skip":1}`, 0, 29*second + 800*time.Millisecond, 200 * time.Millisecond},
		{"does not skip", 5 * second, `{"skip":25000}`, 0, 5 * second, 25 * second},
		{"skips when it is paused", 5 * second, `{"skip":1,"play":false}`, 0, 5 * second, forever},
	} {
		p := newPlayhead(begin)
		p.length = time.Minute
		p.due(1, begin) // nothing was decoded
		var o order
		if err := json.Unmarshal([]byte(c.orders), &o); err != nil {
			t.Fatal(err)
		}
		now := begin.Add(c.after)
		p.obey(o, now)
		p.due(p.at+1, now) // a seek is over at once
		due, _ := p.due(30*second, now.Add(c.later))
		if got := p.position(now.Add(c.later)); got != c.want || due != c.due {
			t.Errorf("%s: at %v, due in %v; want %v, %v", c.name, got, due, c.want, c.due)
		}
	}
}

// A seek takes the time that decoding takes: the moment stays.
func TestPlayheadWaitsForASeek(t *testing.T) {
	begin, at := time.Unix(1000, 0), int64(20000)
	p := newPlayhead(begin)
	p.length = time.Minute
	p.obey(order{At: &at}, begin)
	if due, _ := p.due(20*second, begin.Add(9*second)); due != 0 || !p.seeking {
		t.Errorf("a frame up to the moment is due in %v", due)
	}
	if got := p.position(begin.Add(9 * second)); got != 20*second {
		t.Errorf("it moves while frames are decoded: %v", got)
	}
	if due, _ := p.due(21*second, begin.Add(9*second)); due != second || p.seeking {
		t.Errorf("the next frame is due in %v", due)
	}
}
