package modelcall

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
)

// drawSound draws a sound of a prompt, as an object with its data and the name of its form: sometimes one whose
// length cannot be read.
func drawSound(d *drawn, form, name string) string {
	d.hears = true
	millis := d.Int64N(5_000)
	encoded := base64.StdEncoding.EncodeToString(wav(millis))
	if d.IntN(4) == 0 {
		encoded = encoded[8:]
	}
	d.prompt += millis*32/1000 + 900 - int64(len(encoded)) // the sound is no text
	return fmt.Sprintf(`{"data":%q,%q:%q}`, encoded, form, name)
}

// wav is a sound of so many milliseconds, with 1,000 samples of a byte a second.
func wav(millis int64) []byte {
	data := make([]byte, millis)
	head := []byte("RIFF\x00\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\xe8\x03\x00\x00\xe8\x03\x00\x00\x01\x00\x08\x00data")
	return append(binary.LittleEndian.AppendUint32(head, uint32(len(data))), data...)
}
