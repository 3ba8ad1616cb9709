package params

import (
	"bytes"
	"hash/maphash"
	"slices"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// GivenIDs are the ids that a caller gave the items of its request, as hashes: they are kept as long as the
// answer lasts, and the request is not.
type GivenIDs []uint64

var givenSeed = maphash.MakeSeed()

// Has reports whether an id is one of them.
func (g GivenIDs) Has(id string) bool {
	return len(g) > 0 && slices.Contains(g, maphash.String(givenSeed, id))
}

// add adds a quoted id.
func (g *GivenIDs) add(value []byte) {
	if bytes.IndexByte(value, '\\') >= 0 {
		id, _ := jsonscan.String(value)
		*g = append(*g, maphash.String(givenSeed, id))
		return
	}
	*g = append(*g, maphash.Bytes(givenSeed, value[1:len(value)-1]))
}
