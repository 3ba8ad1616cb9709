package recording

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// readEntry reads the stored entry of a recording.
func readEntry(path, id string) (e Entry, err error) {
	file, err := os.Open(path)
	if err != nil {
		return e, err
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, maxEntry))
	if err == nil {
		err = json.Unmarshal(text, &e)
	}
	if err == nil && e.ID != id {
		err = fmt.Errorf("it says that it is %.64q", e.ID)
	}
	return e, err
}

// isWhole reports whether the file of a recording ends with its last chunk. It reads lengths only: what the chunks
// have is checked when they are read.
func isWhole(file io.ReaderAt) bool {
	var length [4]byte
	read := func(at int64) (n uint32, ok bool) {
		_, err := file.ReadAt(length[:], at)
		return binary.BigEndian.Uint32(length[:]), err == nil
	}
	at := int64(len(magic))
	n, ok := read(at)
	for ok && n&lastChunk == 0 {
		at += int64(len(length)) + int64(n)
		n, ok = read(at)
	}
	if !ok {
		return false
	}
	at += int64(len(length)) + int64(n&^lastChunk)
	_, err := file.ReadAt(length[:1], at-1)
	_, more := file.ReadAt(length[:1], at)
	return err == nil && errors.Is(more, io.EOF)
}
