package aws_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/gatehouse-proxy/gatehouse/internal/translate/aws"
)

// frame writes a frame as the page of the package says.
func frame(payload string, headers ...string) []byte {
	var h []byte
	for i := 0; i < len(headers); i += 2 {
		h = append(append(h, byte(len(headers[i]))), headers[i]...)
		h = append(binary.BigEndian.AppendUint16(append(h, 7), uint16(len(headers[i+1]))), headers[i+1]...)
	}
	out := binary.BigEndian.AppendUint32(nil, uint32(16+len(h)+len(payload)))
	out = binary.BigEndian.AppendUint32(out, uint32(len(h)))
	out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out))
	out = append(append(out, h...), payload...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out))
}

func event(name, payload string) []byte {
	return frame(payload, ":message-type", "event", ":event-type", name, ":content-type", "application/json")
}

// read returns the frames of a stream as text, and why it ended.
func read(r io.Reader) (string, error) {
	var out strings.Builder
	frames := aws.NewReader(r)
	for {
		f, err := frames.Next()
		if err != nil {
			return out.String(), err
		}
		if f.Failed {
			out.WriteString("!")
		}
		out.WriteString(f.Name + f.Message + string(f.Payload) + "\n")
	}
}

var whole = bytes.Join([][]byte{
	event("messageStart", `{"role":"assistant","p":"abc"}`), event("contentBlockDelta", `{"delta":{"text":"`+strings.Repeat("x", 9000)+`"}}`),
	frame(slowDown, ":message-type", "exception", ":exception-type", "throttlingException"),
	frame("", ":message-type", "error", ":error-code", "Internal", ":error-message", "oops"),
}, nil)

const slowDown = `{"message":"slow down"}`

func TestFramesAreReadWhereverTheBytesAreCut(t *testing.T) {
	want, err := read(bytes.NewReader(whole))
	if err != io.EOF || !strings.Contains(want, "messageStart{") || !strings.HasSuffix(want, "!throttlingException"+slowDown+"\n!Internaloops\n") {
		t.Fatalf("%.200s %v", want, err)
	}
	for name, r := range map[string]io.Reader{"one": iotest.OneByteReader(bytes.NewReader(whole)), "half": iotest.HalfReader(bytes.NewReader(whole)), "late": iotest.DataErrReader(bytes.NewReader(whole))} {
		if got, err := read(r); got != want || err != io.EOF {
			t.Errorf("%s: %v", name, err)
		}
	}
	for cut := 1; cut < len(whole)-1; cut += 7 {
		if got, err := read(bytes.NewReader(whole[:cut])); !strings.HasPrefix(want, got) || err == nil {
			t.Errorf("cut at %d: %v", cut, err)
		}
	}
}

// The frame is the one that AWS' SDK for Python is tested with.
func TestAFrameOfAnotherImplementationIsRead(t *testing.T) {
	known, err := hex.DecodeString("0000003d" + "00000020" + "07fd8396" + "0c" + "636f6e74656e742d74797065" + "07" + "0010" + "6170706c69636174696f6e2f6a736f6e" + "7b27666f6f273a27626172277d" + "8d9c08b1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := read(bytes.NewReader(known)); err == nil || !strings.Contains(err.Error(), "its type is") {
		t.Errorf("its checksums are right, and it has no type: %v", err)
	}
}

func TestBrokenFramesAreErrors(t *testing.T) {
	for at := range len(event("a", "{}")) {
		broken := event("a", "{}")
		broken[at] ^= 1
		if got, err := read(bytes.NewReader(broken)); err == nil || err == io.EOF || got != "" {
			t.Errorf("a bit of byte %d: %q %v", at, got, err)
		}
	}
	for name, text := range map[string][]byte{
		"too long":  binary.BigEndian.AppendUint32(nil, aws.MaxFrame+1),
		"too short": binary.BigEndian.AppendUint32(nil, 15),
		"text":      []byte("data: {}\n\n"),
	} {
		if _, err := read(bytes.NewReader(text)); err == nil || errors.Is(err, io.EOF) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzReader(f *testing.F) {
	f.Add(whole)
	f.Fuzz(func(t *testing.T, wire []byte) {
		got, err := read(bytes.NewReader(wire))
		if again, err2 := read(iotest.OneByteReader(bytes.NewReader(wire))); again != got || (err == io.EOF) != (err2 == io.EOF) {
			t.Fatalf("%q %v, then %q %v", got, err, again, err2)
		}
	})
}
