// Package sound measures how long a sound lasts, of which it sees the bytes once and keeps none.
package sound

import (
	"encoding/binary"
	"io"
	"math"
	"mime"
	"strconv"
)

// PCM of speech, unless its type says otherwise: OpenAI's and OpenRouter's have 24,000 samples of two
// bytes a second, and one channel.
const (
	pcmRate   = 24_000
	pcmSample = 2
)

// Counter measures a sound: WAV, MP3, or samples without a header. The zero value recognizes the
// first two by their first bytes.
type Counter struct {
	step  func(*Counter, []byte) // takes the header that was gathered; nil: nothing more is read
	need  int                    // bytes of that header
	head  []byte                 // of it, as far as it has come
	skip  int64                  // bytes before the next header
	count bool                   // these are samples

	seen    int64 // bytes that were added
	frames  int64 // bytes of frames
	samples int64 // bytes of samples
	rate    int64 // bytes of samples a second; 0 for frames
	micros  int64 // of all frames
	begun   bool
}

// New returns the counter of a sound with this Content-Type.
func New(contentType string) *Counter {
	media, params, err := mime.ParseMediaType(contentType)
	if err != nil || media != "audio/pcm" {
		return new(Counter)
	}
	rate, _ := strconv.ParseInt(params["rate"], 10, 32)
	if rate <= 0 {
		rate = pcmRate
	}
	return &Counter{begun: true, skip: math.MaxInt64, count: true, rate: rate * pcmSample}
}

// Measure returns how long a sound is, in milliseconds, 0 if that is not known. What describes only a
// part of the sound says nothing of it.
func Measure(r io.Reader) int64 {
	var c Counter
	buffer := make([]byte, 32<<10)
	for {
		n, err := r.Read(buffer)
		c.Add(buffer[:n])
		if err == io.EOF && 2*(c.samples+c.frames) >= c.seen {
			return c.Millis()
		}
		if err != nil {
			return 0
		}
	}
}

// Add takes the next bytes.
func (c *Counter) Add(p []byte) {
	c.seen += int64(len(p))
	if !c.begun {
		c.begun = true
		c.await(4, (*Counter).start)
	}
	for len(p) > 0 {
		if c.skip > 0 {
			n := min(c.skip, int64(len(p)))
			if c.skip -= n; c.count {
				c.samples += n
			}
			p = p[n:]
			continue
		}
		if c.step == nil {
			return
		}
		n := min(c.need-len(c.head), len(p))
		c.head, p = append(c.head, p[:n]...), p[n:]
		if step, head := c.step, c.head; len(head) == c.need {
			c.step, c.head = nil, nil
			step(c, head)
		}
	}
}

// Millis returns how long the sound is that was added, in milliseconds, rounded up. It is 0 if that is
// not known.
func (c *Counter) Millis() int64 {
	if c.rate > 0 {
		return int64(math.Ceil(float64(c.samples) * 1000 / float64(c.rate)))
	}
	return (c.micros + 999) / 1000
}

func (c *Counter) await(need int, step func(*Counter, []byte)) { c.need, c.step = need, step }

func (c *Counter) start(head []byte) {
	switch {
	case string(head) == "RIFF":
		c.await(8, (*Counter).wave)
	case string(head[:3]) == "ID3":
		c.await(6, (*Counter).tag)
	default:
		c.frame(head)
	}
}

func (c *Counter) wave(head []byte) {
	if string(head[4:]) == "WAVE" {
		c.await(8, (*Counter).chunk)
	}
}

// chunk takes the header of a chunk. A sound that is sent while it is made has no length, or the
// greatest.
func (c *Counter) chunk(head []byte) {
	size := int64(binary.LittleEndian.Uint32(head[4:]))
	switch name := string(head[:4]); {
	case name == "fmt " && size >= formatSize && size < maxFormat:
		c.await(int(size+size&1), (*Counter).format)
	case name == "data" && c.rate > 0:
		c.count, c.skip = true, math.MaxInt64
		if size > 0 && size < math.MaxInt32 {
			c.skip = size
		}
	default:
		c.skip = size + size&1
		c.await(8, (*Counter).chunk)
	}
}

// Bounds of the format chunk of a WAV file.
const (
	formatSize = 16
	maxFormat  = 1 << 10
)

// format takes the format of the samples: their rate times their size, or what a compressed one says.
func (c *Counter) format(head []byte) {
	kind := binary.LittleEndian.Uint16(head)
	samples, bytes := binary.LittleEndian.Uint32(head[4:]), binary.LittleEndian.Uint32(head[8:])
	size := binary.LittleEndian.Uint16(head[12:])
	c.rate = int64(bytes)
	switch kind {
	case 1, 3, 0xFFFE: // integers, floats, either of them
		c.rate = int64(samples) * int64(size)
	}
	if c.rate > 0 {
		c.await(8, (*Counter).chunk)
	}
}

// tag skips what describes an MP3.
func (c *Counter) tag(head []byte) {
	size := int64(0)
	for _, b := range head[2:] {
		size = size<<7 | int64(b&0x7F)
	}
	c.skip = size
	c.await(4, (*Counter).frame)
}

// Kilobits a second of MP3 frames, and samples a second of MPEG 1.
var (
	mpeg1 = [16]int{0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320}
	mpeg2 = [16]int{0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160}
	rates = [4]int{44_100, 48_000, 32_000}
)

// frame takes the header of an MP3 frame. What is no frame ends the sound.
func (c *Counter) frame(head []byte) {
	version, layer := head[1]>>3&3, head[1]>>1&3
	if head[0] != 0xFF || head[1]>>5 != 7 || layer != 1 || version == 1 {
		return
	}
	bits, rate, samples := mpeg1[head[2]>>4], rates[head[2]>>2&3], 1152
	if version != 3 {
		bits, rate, samples = mpeg2[head[2]>>4], rate>>(2-version/2), samples/2
	}
	if bits == 0 || rate == 0 {
		return
	}
	size := samples / 8 * bits * 1000 / rate
	if head[2]>>1&1 == 1 {
		size++
	}
	c.frames += int64(size)
	c.micros += int64(samples) * 1_000_000 / int64(rate)
	c.skip = int64(size - len(head))
	c.await(4, (*Counter).frame)
}
