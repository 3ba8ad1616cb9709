package sound_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/gatehouse-proxy/gatehouse/internal/sound"
)

func file(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestFilesOfRealEncodersAreBounded(t *testing.T) {
	for name, c := range map[string]struct{ least, most int64 }{ // milliseconds
		"tone.wav":     {250, 250},
		"tone.mp3":     {2000, 2200},
		"vbr.mp3":      {2000, 2200},
		"tone.flac":    {250, 250},
		"opus.ogg":     {2000, 2300},
		"vorbis.ogg":   {2000, 2300},
		"tone.webm":    {2000, 2100},
		"live.webm":    {2000, 2100},
		"vorbis.webm":  {2000, 2300},
		"silence.flac": {600_000, 600_000},
		"silence.opus": {20_000, 20_400},
		// As many frames of silence as the bytes of a frame have room for.
		"tone.m4a":      {2000, 70_000},
		"fragments.m4a": {2000, 70_000},
		"silence.m4a":   {10_000, 13_000},
	} {
		data := file(t, name)
		l := sound.Measure(bytes.NewReader(data), sound.NameInFile(name))
		if !l.Bounded || l.Millis < c.least || l.Millis > c.most {
			t.Errorf("%s of %d bytes: %+v, want %d to %d ms", name, len(data), l, c.least, c.most)
		}
	}
}

// patched returns a file with the bytes changed that follow a mark, so many bytes behind its end.
func patched(t *testing.T, data []byte, mark string, skip int, with string) []byte {
	t.Helper()
	i := bytes.Index(data, []byte(mark))
	if i < 0 {
		t.Fatalf("no %q", mark)
	}
	data = bytes.Clone(data)
	copy(data[i+len(mark)+skip:], with)
	return data
}

// disguised is a WAV file of samples that are something else.
func disguised(data []byte) []byte {
	return append(wav(1, 16, 192_000, 768_000, uint32(len(data)), 0), data...)
}

func TestWhatAHeaderSaysDoesNotShortenASound(t *testing.T) {
	second := wav(1, 16, 8_000, 16_000, 16_000, 16_000)
	low := strings.Repeat("\xFF\xE3\x18\xC4"+strings.Repeat("\x00", 68), 100) // 72 ms in 72 bytes: 7.2 s
	high := strings.Repeat("\xFF\xFB\xE0\xC4"+strings.Repeat("\x00", 1040), 10)
	m4a, webm := file(t, "silence.m4a"), file(t, "tone.webm")
	for name, c := range map[string]struct {
		sound []byte
		least int64 // milliseconds
	}{
		"wav with large frames":                 {patched(t, second, "fmt ", 16, "\xFF\xFF"), 1000},
		"wav with many bytes a second":          {patched(t, second, "fmt ", 12, "\xFF\xFF\xFF\x7F"), 1000},
		"wav with few bytes a second":           {patched(t, second, "fmt ", 12, "\x01\x00\x00\x00"), 16_000_000},
		"wav with more behind":                  {wav(1, 16, 8_000, 16_000, 100, 16_000), 1000},
		"wav with less than it says":            {wav(1, 16, 8_000, 16_000, 32_000, 16_000), 2000},
		"wav without a length":                  {wav(1, 16, 8_000, 16_000, 0, 16_000), 1000},
		"flac that says it is short":            {patched(t, file(t, "silence.flac"), "fLaC", 4+10+3, "\xF0\x00\x00\x00\x01"), 600_000},
		"flac that says it is long":             {patched(t, file(t, "tone.flac"), "fLaC", 4+10+3, "\xFF\xFF\xFF\xFF\xFF"), 1 << 30},
		"mp3 that begins again at another rate": {[]byte(high + "\x00" + low), 7200},
		"mp3 with frames in a frame":            {[]byte(high + "\xFF\xFB\xE0\xC4" + low), 7200},
		"mp3 that says it is long":              {patched(t, file(t, "tone.mp3"), "Info", 4, "\x7F\xFF\xFF\xFF"), 1 << 30},
		"mp3 of frames without a bitrate":       {[]byte(high + strings.Repeat("\xFF\xE3\x08\xC4"+strings.Repeat("\x00", 16), 100)), 7200},
		"webm that says it is short":            {patched(t, webm, "\x44\x89\x88", 0, "\x3F\xF0\x00\x00\x00\x00\x00\x00"), 2000},
		"webm that says it is long":             {patched(t, webm, "\x44\x89\x88", 0, "\x43\xF0\x00\x00\x00\x00\x00\x00"), 1 << 40},
		"m4a with short samples":                {patched(t, m4a, "stts", 20-4, "\x00\x00\x00\x01"), 10_000},
		"m4a that says it is long":              {patched(t, m4a, "mdhd", 16, "\x7F\xFF\xFF\xFF"), 1 << 28},
		"m4a with all frames in one sample":     {patched(t, m4a, "stsz", 8, "\x00\x00\x00\x01\x00\x00\x01\x51"), 10_000},
	} {
		if l := sound.Measure(bytes.NewReader(c.sound)); l.Millis < c.least || !l.Bounded {
			t.Errorf("%s: %+v, want %d ms", name, l, c.least)
		}
	}
}

func TestWhatDecodersReadDifferentlyIsNotBounded(t *testing.T) {
	second, tone := wav(1, 16, 8_000, 16_000, 16_000, 16_000), file(t, "tone.mp3")
	mp3 := tone[bytes.IndexByte(tone, 0xFF):]
	ogg, webm, m4a := file(t, "opus.ogg"), file(t, "tone.webm"), file(t, "tone.m4a")
	dts := strings.Repeat("\x7F\xFE\x80\x01"+strings.Repeat("\x07", 100), 10)
	for name, c := range map[string]struct {
		sound []byte
		name  string
	}{
		"nothing":                        {},
		"text":                           {sound: []byte("these are words")},
		"another name":                   {second, "mp3"},
		"a name of no form":              {mp3, "aac"},
		"mp3 in wav":                     {sound: disguised(mp3)},
		"mp3 in wav after silence":       {sound: disguised(append(make([]byte, 99), mp3...))},
		"aac in wav":                     {sound: disguised([]byte(strings.Repeat("\xFF\xF1\x6C\x40\x01\x7F\xFC\x01\x18\x20\x07", 9)))},
		"dts in wav":                     {sound: disguised([]byte("some samples" + dts))},
		"wav of a codec":                 {sound: wav(0x55, 16, 8_000, 16_000, 16_000, 16_000)},
		"wav without a rate":             {sound: wav(1, 16, 0, 0, 10, 10)},
		"wav with another format":        {sound: append(bytes.Clone(second), second[24:]...)},
		"wav with an odd chunk":          {sound: bytes.Replace(second, []byte("fmt "), []byte("LIST\x03\x00\x00\x00abc\x00fmt "), 1)},
		"a few frames of mp3":            {sound: append(bytes.Clone(mp3[:3*len(mp3)/30]), bytes.Repeat([]byte("junk"), 400)...)},
		"a tag and no mp3":               {sound: append([]byte("ID3\x04\x00\x00\x00\x00\x00\x00"), second...)},
		"ogg with a wrong sum":           {sound: patched(t, ogg, "OggS", 18, "\x00\x00\x00\x00")},
		"ogg with junk between":          {sound: bytes.Replace(ogg, []byte("OggS"), []byte("junkOggS"), 3)[4:]},
		"ogg of another codec":           {sound: patched(t, ogg, "OpusHead", -8, "Speex   ")},
		"webm that breaks off":           {sound: webm[:len(webm)-1]},
		"webm of another codec":          {sound: patched(t, webm, "A_OPUS", -6, "A_FLAC")},
		"webm with two tracks of a name": {sound: patched(t, webm, "\xD7\x81", 0, "\x02")},
		"m4a of another codec":           {sound: patched(t, m4a, "mp4a", -4, "alac")},
		"m4a of another kind of aac":     {sound: patched(t, m4a, "\x05\x80\x80\x80\x05", 0, "\xE0")},
		"m4a that breaks off":            {sound: m4a[:len(m4a)-1]},
		"m4a with a box out of place":    {sound: patched(t, m4a, "udta", 4, "trak")},
	} {
		if l := sound.Measure(bytes.NewReader(c.sound), c.name); l.Bounded {
			t.Errorf("%s: %+v", name, l)
		}
	}
}

func TestNamesOfForms(t *testing.T) {
	for name, want := range map[string]string{
		sound.NameInFile("a.b.MP3"): "MP3", sound.NameInFile("wav"): "", sound.NameInFile("a/b.mp3"): "mp3",
		sound.NameInType("Audio/X-WAV; rate=1"): "x-wav", sound.NameInType("application/octet-stream"): "", sound.NameInType(""): "",
	} {
		if name != want {
			t.Errorf("%q, want %q", name, want)
		}
	}
}

// endless is a file that goes on with the same bytes.
type endless struct{ head, more []byte }

func (e *endless) Read(b []byte) (n int, err error) {
	for n < len(b) {
		if len(e.head) == 0 {
			e.head = e.more
		}
		c := copy(b[n:], e.head)
		e.head, n = e.head[c:], n+c
	}
	return n, nil
}

func TestALongSoundTakesNoMemory(t *testing.T) {
	files, err := filepath.Glob("testdata/*.*")
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		data := file(t, filepath.Base(name))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		sound.Measure(io.LimitReader(&endless{data, data}, 16<<20))
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
			t.Errorf("%s: %d bytes", name, n)
		}
	}
}

func FuzzASoundIsMeasuredAlikeInAnyPieces(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.*")
	for _, name := range files {
		f.Add(file(f, filepath.Base(name)), 7)
	}
	f.Add(wav(1, 16, 8_000, 16_000, 16_000, 16_000), 1)
	f.Fuzz(func(t *testing.T, data []byte, size int) {
		whole := sound.Measure(bytes.NewReader(data))
		if pieces := sound.Measure(iotest.OneByteReader(bytes.NewReader(data))); pieces != whole {
			t.Errorf("%+v, by bytes %+v", whole, pieces)
		}
		if whole.Millis < 0 || whole.Millis > 1<<40 {
			t.Errorf("%+v", whole)
		}
		once, counter := sound.New(""), sound.New("")
		once.Add(data)
		for rest := data; len(rest) > 0; {
			n := min(max(size, 1), len(rest))
			counter.Add(rest[:n])
			rest = rest[n:]
		}
		if a, b := once.Close(), counter.Close(); a != b {
			t.Errorf("%d ms, in pieces %d ms", a, b)
		}
	})
}
