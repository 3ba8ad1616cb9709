package recording

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"filippo.io/age"
)

// chunks writes the body of a file.
type chunks struct {
	file   io.WriteCloser
	seal   cipher.AEAD
	number uint64
	spare  []byte // the buffer of a busy session
}

// begin writes the head of a file.
func begin(file io.WriteCloser, h Header, recipients []age.Recipient) (chunks, error) {
	key := make([]byte, keySize)
	_, _ = rand.Read(key) // never fails (crypto/rand)
	var sealed bytes.Buffer
	in, err := age.Encrypt(&sealed, recipients...)
	if err != nil {
		return chunks{}, err
	}
	header, err := json.Marshal(h)
	if err != nil {
		return chunks{}, err
	}
	if _, err = in.Write(append(bytes.Clone(key), header...)); err == nil {
		err = in.Close()
	}
	if err == nil && sealed.Len() > maxHead {
		err = fmt.Errorf("the header has %d bytes, more than %d: name fewer recipients", sealed.Len(), maxHead)
	}
	if err != nil {
		return chunks{}, err
	}
	seal, err := newSeal(key)
	if err != nil {
		return chunks{}, err
	}
	head := binary.BigEndian.AppendUint32([]byte(magic), uint32(sealed.Len()))
	_, err = file.Write(append(head, sealed.Bytes()...))
	return chunks{file: file, seal: seal}, err
}

// write seals frames, and writes them at once.
func (c *chunks) write(frames []byte, last bool) error {
	n := uint32(len(frames) + c.seal.Overhead())
	if last {
		n |= lastChunk
	}
	out := binary.BigEndian.AppendUint32(slices.Grow(c.spare[:0], 4+len(frames)+c.seal.Overhead()), n)
	out = c.seal.Seal(out, nonce(c.number, last), frames, nil)
	c.number++
	if c.spare = nil; len(frames) >= flushAt {
		c.spare = out
	}
	_, err := c.file.Write(out)
	return err
}

func newSeal(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// nonce of a chunk.
func nonce(number uint64, last bool) []byte {
	n := make([]byte, 12)
	binary.BigEndian.PutUint64(n[3:], number)
	if last {
		n[11] = 1
	}
	return n
}
