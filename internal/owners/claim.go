package owners

import (
	"time"
	"unsafe"

	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

const (
	selectOwner = "SELECT tenant, expires_at FROM owners WHERE provider = ? AND id = ?"

	// insertOwner does not change a valid row of another tenant.
	insertOwner = `INSERT INTO owners (provider, id, kind, tenant, expires_at) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (provider, id) DO UPDATE SET kind = excluded.kind, tenant = excluded.tenant, expires_at = excluded.expires_at
		WHERE tenant = excluded.tenant OR expires_at <= ?`
)

// claim writes one owner. It is not droppable: a tenant without its row could not use its own
// response.
type claim struct {
	owners *SQLiteOwners
	kind   string
	key    key
	entry  entry
	at     time.Time
}

func (c *claim) Droppable() bool { return false }

func (c *claim) Size() int { return int(unsafe.Sizeof(*c)) + len(c.key.id) }

// Apply corrects memory if the database has an earlier owner that memory had forgotten.
func (c *claim) Apply(tx *store.Tx) error {
	res, err := tx.Exec(insertOwner, c.key.provider, c.key.id, c.kind, c.entry.tenant, c.entry.expires.UnixNano(), c.at.UnixNano())
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n > 0 {
		return err
	}
	var first entry
	var expires int64
	if err := tx.Get(selectOwner, []any{c.key.provider, c.key.id}, &first.tenant, &expires); err != nil {
		return err
	}
	first.expires = time.Unix(0, expires)
	c.owners.memory.set(c.key, first)
	return nil
}
