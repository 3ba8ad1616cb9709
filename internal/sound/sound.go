// Package sound measures how long a sound lasts, of which it sees the bytes once and keeps none.
//
// What is measured is what a decoder will play, and not what a header says of it: the frames are counted,
// and where two decoders could count differently the longer of the readings is taken. A sound that could
// be longer than any reading is not bounded.
package sound

import (
	"io"
	"math/bits"
	"path"
	"slices"
	"strings"
)

// Readable names the forms of sound that [Measure] bounds.
const Readable = "wav (PCM), mp3, flac, ogg (Opus or Vorbis), webm and m4a (AAC)"

// Length is how long a sound is.
type Length struct {
	Millis  int64 // the longest of its readings, rounded up; 0 if nothing was read
	Bounded bool  // no decoder finds more than Millis
}

// form is a form of sound.
type form struct {
	// names are its names in media types, in formats, and at the end of file names.
	names  []string
	starts func(in *input) bool
	read   func(in *input) Length
}

var forms = []form{
	{[]string{"wav", "wave", "x-wav", "vnd.wave", "x-pn-wav"}, isWAV, readWAV},
	{[]string{"flac", "x-flac"}, starts(flacMark), readFLAC},
	{[]string{"ogg", "oga", "opus", "x-opus+ogg", "vorbis"}, starts(oggMark), readOgg},
	{[]string{"webm", "weba", "mkv", "mka", "x-matroska"}, starts(ebmlMark), readWebM},
	{[]string{"m4a", "x-m4a", "mp4", "mp4a-latm", "mov", "quicktime"}, isMP4, readMP4},
	{[]string{"mp3", "mpeg", "mpga", "x-mp3", "x-mpeg", "mpeg3", "x-mpeg-3", "mpg"}, isMP3, readMP3},
}

// starts returns a test for what begins with a mark.
func starts(mark string) func(*input) bool {
	return func(in *input) bool { return string(in.peek(len(mark))) == mark }
}

// Measure reads a sound. The names are what its sender calls its form, "" for nothing: decoders may go by
// them, so that a sound in another form is not bounded.
func Measure(r io.Reader, names ...string) Length { return measure(newInput(r, window), names) }

// NameInType returns what a media type calls the form of a sound.
func NameInType(mediaType string) string {
	media, _, _ := strings.Cut(mediaType, ";")
	kind, name, _ := strings.Cut(strings.ToLower(strings.TrimSpace(media)), "/")
	if kind != "audio" && kind != "video" {
		return ""
	}
	return name
}

// NameInFile returns what the name of a file calls its form.
func NameInFile(name string) string { return strings.TrimPrefix(path.Ext(name), ".") }

func measure(in *input, names []string) Length {
	for i := range forms {
		f := &forms[i]
		if !f.starts(in) {
			continue
		}
		l := f.read(in)
		l.Bounded = l.Bounded && in.err == io.EOF
		for _, name := range names {
			l.Bounded = l.Bounded && (name == "" || slices.Contains(f.names, strings.ToLower(name)))
		}
		return l
	}
	return Length{}
}

// maxMillis bounds a length, so that no sum or product of it overflows: 34 years.
const maxMillis = 1 << 40

// millis returns how many milliseconds so many units are, rounded up.
func millis(units, perSecond uint64) int64 {
	hi, lo := bits.Mul64(units, 1000)
	if perSecond == 0 || hi >= perSecond {
		return maxMillis
	}
	whole, rest := bits.Div64(hi, lo, perSecond)
	if rest > 0 {
		whole++
	}
	return int64(min(whole, maxMillis))
}

// sum adds up units, which a caller may choose so that they overflow.
type sum uint64

func (s *sum) add(count, each uint64) {
	hi, n := bits.Mul64(count, each)
	n, carry := bits.Add64(n, uint64(*s), 0)
	if *s = sum(n); hi+carry > 0 {
		*s = 1<<64 - 1
	}
}
