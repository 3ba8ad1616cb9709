package sound

import (
	"io"
	"iter"
	"mime"
	"strconv"
)

// PCM of speech, unless its type says otherwise: OpenAI's and OpenRouter's have 24,000 samples of two
// bytes a second, and one channel.
const (
	pcmRate   = 24_000
	pcmSample = 2
)

// counterWindow is what a [Counter] sees at once: enough for a header.
const counterWindow = 1 << 12

// Counter measures a sound that comes in pieces. Close ends it.
type Counter struct {
	next  func() (struct{}, bool)
	stop  func()
	piece []byte
	ended bool
	read  Length
}

// New returns the counter of a sound with this Content-Type.
func New(contentType string) *Counter {
	c := new(Counter)
	c.next, c.stop = iter.Pull(func(yield func(struct{}) bool) {
		in := newInput(&pieces{c, yield}, counterWindow)
		if rate := rateOfPCM(contentType); rate > 0 {
			in.skip(1 << 63)
			c.read.Millis = millis(in.offset, rate*pcmSample)
		} else {
			c.read = measure(in, nil)
		}
	})
	return c
}

// rateOfPCM returns how many samples a second has of a sound that has no header, 0 for another one.
func rateOfPCM(contentType string) uint64 {
	media, params, err := mime.ParseMediaType(contentType)
	if err != nil || media != "audio/pcm" {
		return 0
	}
	if rate, err := strconv.ParseUint(params["rate"], 10, 31); err == nil && rate > 0 {
		return rate
	}
	return pcmRate
}

// Add takes the next bytes.
func (c *Counter) Add(p []byte) {
	c.piece = p
	for len(c.piece) > 0 && !c.ended {
		_, more := c.next()
		c.ended = !more
	}
}

// Close ends the sound and returns how long it is, in milliseconds, rounded up; 0 if that is not known.
func (c *Counter) Close() int64 {
	c.piece, c.ended = nil, true
	c.stop()
	return c.read.Millis
}

// pieces reads what is added.
type pieces struct {
	*Counter
	yield func(struct{}) bool
}

func (p *pieces) Read(b []byte) (int, error) {
	for len(p.piece) == 0 {
		if p.ended || !p.yield(struct{}{}) {
			return 0, io.EOF
		}
	}
	n := copy(b, p.piece)
	p.piece = p.piece[n:]
	return n, nil
}
