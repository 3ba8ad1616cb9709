package openrouter

// The answers of the gateway's own routes, for the description of the API.
type (
	ActivityPage     = page[ActivityRow]
	LimitsPage       = page[LimitItem]
	KeyAnswer        = data[KeyInfo]
	APIKeys          = data[[]APIKey]
	CreditsAnswer    = data[credits]
	GenerationAnswer = data[Generation]
	ModelAnswer      = data[model]
	ImageModels      = data[[]imageModel]
	ModelEndpoints   = data[placedModel]
	ModelCount       = data[modelCount]
)

// page is a page of a list. The cursor is null on the last.
type page[T any] struct {
	Data       []T  `json:"data"`
	NextCursor Text `json:"next_cursor"`
}
