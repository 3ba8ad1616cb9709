package sound_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/sound"
)

// wav is a WAV file of a format, with a chunk before it.
func wav(kind, bits uint16, rate, perSecond, size uint32, samples int) []byte {
	b := []byte("RIFF....WAVELIST\x04\x00\x00\x00abc.fmt \x10\x00\x00\x00")
	b = binary.LittleEndian.AppendUint16(b, kind)
	b = binary.LittleEndian.AppendUint16(b, 1)
	b = binary.LittleEndian.AppendUint32(b, rate)
	b = binary.LittleEndian.AppendUint32(b, perSecond)
	b = binary.LittleEndian.AppendUint16(b, bits/8)
	b = binary.LittleEndian.AppendUint16(b, bits)
	b = binary.LittleEndian.AppendUint32(append(b, "data"...), size)
	return append(b, make([]byte, samples)...)
}

// mp3 is a tag and so many frames with this header.
func mp3(header string, size, frames int) []byte {
	frame := append([]byte(header), make([]byte, size-len(header))...)
	return append([]byte("ID3\x04\x00\x00\x00\x00\x01\x02"+string(make([]byte, 130))), bytes.Repeat(frame, frames)...)
}

func TestSoundIsMeasured(t *testing.T) {
	for name, c := range map[string]struct {
		mediaType string
		sound     []byte
		millis    int64
	}{
		"pcm":                     {"audio/pcm", make([]byte, 96_000), 2000},
		"pcm of another rate":     {"audio/pcm; rate=8000", make([]byte, 8001), 501},
		"wav":                     {"audio/wav", wav(1, 16, 24_000, 48_000, 24_000, 24_000), 500},
		"wav with more behind":    {"", wav(1, 16, 8_000, 16_000, 16_000, 17_000), 1063},
		"wav that is cut off":     {"", wav(1, 16, 8_000, 16_000, 32_000, 16_000), 2000},
		"wav without a length":    {"", wav(1, 16, 8_000, 16_000, 0xFFFFFFFF, 16_000), 1000},
		"wav that lies":           {"", wav(1, 16, 8_000, 16_000_000, 16_000, 16_000), 1000},
		"compressed wav":          {"", wav(17, 4, 8_000, 4_000, 4_000, 4_000), 1000},
		"mp3 of MPEG 1, 44.1 kHz": {"audio/mpeg", mp3("\xFF\xFB\x90\x00", 417, 100), 2613},
		"mp3 of MPEG 2, 24 kHz":   {"audio/mpeg", mp3("\xFF\xF3\x84\xC4", 192, 100), 2400},
		"mp3 of MPEG 2.5, 8 kHz":  {"", mp3("\xFF\xE3\x48\x00", 288, 10), 720},
		"something else":          {"audio/opus", []byte("OggS and so on, quite long"), 0},
		"wav without a rate":      {"", wav(1, 0, 0, 0, 10, 10), 0},
		"short":                   {"", []byte("RI"), 0},
		"nothing":                 {"", nil, 0},
	} {
		for _, size := range []int{1, 7, 1 << 20} {
			counter := sound.New(c.mediaType)
			for rest := c.sound; len(rest) > 0; {
				n := min(size, len(rest))
				counter.Add(rest[:n])
				rest = rest[n:]
			}
			if got := counter.Close(); got != c.millis {
				t.Errorf("%s in pieces of %d: %d ms, want %d", name, size, got, c.millis)
			}
		}
	}
}
