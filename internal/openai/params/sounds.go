package params

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/sound"
)

// Sounds are the sounds in a prompt.
type Sounds struct {
	Count     int64
	Millis    int64 // of all
	Bytes     int64 // of the request that they have, which are no text
	Unbounded bool  // one of them may be longer
}

const (
	// promptPerSecond is the most tokens that a second of sound in a prompt has: 32 (Gemini). Others count
	// 10 to 25.
	promptPerSecond = 32
	// promptWindow is more tokens than silence has that models add to a sound: up to 30 seconds.
	promptWindow = 1000
)

// Tokens returns the most tokens that the sounds have.
func (s Sounds) Tokens() int64 { return perSecond(s.Millis, promptPerSecond) + s.Count*promptWindow }

// add notes a sound of a prompt that stands there in so many bytes.
func (s *Sounds) add(l sound.Length, ok bool, size int) {
	s.Count++
	if s.Unbounded = s.Unbounded || !ok || !l.Bounded; ok && l.Bounded {
		s.Millis += seconds(l.Millis)
		s.Bytes += int64(size)
	}
}

// inputAudio measures the sound of a part with `data` and `format`, and reports whether it is base64 that all
// decoders read alike. The data may be a data URL.
func inputAudio(part []byte) (l sound.Length, ok bool) {
	data := nested(part, "data")
	if !isString(data) {
		return l, false
	}
	format, _ := jsonscan.String(nested(part, "format"))
	data, media := data[1:len(data)-1], ""
	if comma := bytes.IndexByte(data[:min(len(data), maxDataURL)], ','); comma >= 0 {
		head, isData := strings.CutPrefix(string(data[:comma]), "data:")
		if media, ok = strings.CutSuffix(head, ";base64"); !ok || !isData {
			return l, false
		}
		data = data[comma+1:]
	}
	return encodedSound(data, base64.StdEncoding, format, sound.NameInType(media))
}

// maxDataURL bounds what a data URL says before its data.
const maxDataURL = 64

// encodedSound measures a sound in base64, and reports whether all decoders read it alike.
func encodedSound(data []byte, encoding *base64.Encoding, names ...string) (l sound.Length, ok bool) {
	if i := bytes.IndexByte(data, '='); i >= 0 && i < len(data)-2 {
		return l, false
	}
	r := base64.NewDecoder(encoding.Strict(), &unescaped{data})
	l = sound.Measure(r, names...)
	_, err := io.Copy(io.Discard, r)
	return l, err == nil
}

// unescaped reads text of a JSON string, in which at most slashes are escaped, as PHP does.
type unescaped struct{ text []byte }

var errEscape = errors.New("an escape that base64 does not need")

func (u *unescaped) Read(b []byte) (n int, err error) {
	if len(u.text) == 0 {
		return 0, io.EOF
	}
	if u.text[0] == '\\' {
		if u.text = u.text[1:]; len(u.text) == 0 || u.text[0] != '/' {
			return 0, errEscape
		}
		b = b[:1]
	}
	end := bytes.IndexByte(u.text, '\\')
	if end < 0 {
		end = len(u.text)
	}
	n = copy(b, u.text[:end])
	u.text = u.text[n:]
	return n, nil
}

func isString(value []byte) bool { return len(value) > 2 && value[0] == '"' }
