package recording

import (
	"bufio"
	"bytes"
	"crypto/cipher"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"filippo.io/age"
)

// ErrDamaged is the error for a file that was changed.
var ErrDamaged = errors.New("the recording is damaged or was changed")

// ErrNotRecording is the error for a file that is none.
var ErrNotRecording = errors.New("not a recording")

// Reader reads one recording from its beginning.
type Reader struct {
	in     *bufio.Reader
	seal   cipher.AEAD
	header Header
	number uint64 // of the next chunk
	last   bool   // there is none
	chunk  []byte
	frames []byte // of the chunk, not handed out yet
	at     time.Duration
}

// NewReader reads the head of a file. The error is [ErrNotRecording], io.ErrUnexpectedEOF, one of age
// if no identity is a recipient's, or that of r.
func NewReader(r io.Reader, identities ...age.Identity) (*Reader, error) {
	in := bufio.NewReader(r)
	head := make([]byte, len(magic)+4)
	if _, err := io.ReadFull(in, head); err != nil {
		return nil, torn(err)
	}
	n := binary.BigEndian.Uint32(head[len(magic):])
	if string(head[:len(magic)]) != magic || n > maxHead {
		return nil, ErrNotRecording
	}
	sealed := make([]byte, n)
	if _, err := io.ReadFull(in, sealed); err != nil {
		return nil, torn(err)
	}
	body, err := age.Decrypt(bytes.NewReader(sealed), identities...)
	if err != nil {
		return nil, fmt.Errorf("opening a recording: %w", err)
	}
	opened, err := io.ReadAll(body)
	if err != nil || len(opened) < keySize {
		return nil, ErrDamaged
	}
	reader := &Reader{in: in}
	if err := json.Unmarshal(opened[keySize:], &reader.header); err != nil {
		return nil, ErrDamaged
	}
	reader.seal, err = newSeal(opened[:keySize])
	return reader, err
}

// Header returns the header.
func (r *Reader) Header() Header { return r.header }

// Next returns the next frame; its data is good until the next call. After the last the error is
// io.EOF. Of a file that was cut short all whole chunks are read, then it is io.ErrUnexpectedEOF. It is
// [ErrDamaged] for bytes that were changed.
func (r *Reader) Next() (Frame, error) {
	for len(r.frames) == 0 {
		if err := r.nextChunk(); err != nil {
			return Frame{}, err
		}
	}
	kind := r.frames[0]
	delta, n := binary.Uvarint(r.frames[1:])
	size, m := binary.Uvarint(r.frames[min(1+max(n, 0), len(r.frames)):])
	head := 1 + n + m
	if n <= 0 || m <= 0 || size > uint64(len(r.frames)-head) {
		return Frame{}, ErrDamaged
	}
	r.at += time.Duration(delta) * time.Microsecond
	data := r.frames[head : head+int(size)]
	r.frames = r.frames[head+int(size):]
	return Frame{Kind: kind, At: r.at, Data: data}, nil
}

func (r *Reader) nextChunk() error {
	var length [4]byte
	_, err := io.ReadFull(r.in, length[:])
	if r.last {
		if err == nil {
			return ErrDamaged
		}
		if errors.Is(err, io.EOF) {
			return io.EOF
		}
	}
	if err != nil {
		return torn(err)
	}
	n := binary.BigEndian.Uint32(length[:])
	last := n&lastChunk != 0
	if n &^= lastChunk; n > maxChunk {
		return ErrDamaged
	}
	if cap(r.chunk) < int(n) {
		r.chunk = make([]byte, n)
	}
	r.chunk = r.chunk[:n]
	if _, err := io.ReadFull(r.in, r.chunk); err != nil {
		return torn(err)
	}
	r.frames, err = r.seal.Open(r.chunk[:0], nonce(r.number, last), r.chunk, nil)
	if err != nil {
		return ErrDamaged
	}
	r.last = last
	r.number++
	return nil
}

// torn is the error for a file whose end is missing.
func torn(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
