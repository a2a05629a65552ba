//! Why results stand where they do; the page docs/query.md#explain of varve tells more.
use crate::answer::documents;

documents! {
    /// Why a result stands where it does.
    Explanation {
        /// The order.
        sort_by: String,
        /// What decides it.
        key: f64,
        /// One factor of relevance.
        importance: f64,
        /// Another.
        recency_boost: f64,
        /// The third.
        decay: DecayExplanation,
        /// With text: its score.
        bm25: Option<f64>,
        /// With text: how many words the entry has.
        length: Option<u64>,
        /// With text: the terms that it has, the rarest first.
        terms: Vec<TermOfEntry>,
        /// With a vector.
        vector: Option<VectorExplanation>,
        /// Of those that [`SortBy::Best`](crate::SortBy::Best) ranks.
        best: Option<BestExplanation>,
    }
    /// What age made of an entry.
    DecayExplanation {
        /// By which curve.
        curve: String,
        /// After so long half of it is left.
        half_life_hours: f64,
        /// It goes no lower.
        min_decay_factor: f64,
        /// How old it is.
        age_hours: f64,
        /// What is left.
        factor: f64,
    }
    /// What one term gave an entry.
    TermOfEntry {
        /// The term.
        term: String,
        /// How often the entry has it.
        frequency: u64,
        /// What it gave.
        score: f64,
    }
    /// What the vector gave an entry, and the words beside it.
    VectorExplanation {
        /// The cosine; none for an entry without a vector.
        similarity: Option<f64>,
        /// By the vector.
        rank: Option<u64>,
        /// With words: what the vector counts.
        weight: Option<f64>,
        /// With words: what it gave.
        share: Option<f64>,
        /// With words: by these.
        text_rank: Option<u64>,
        /// With words: what these gave.
        text_share: Option<f64>,
    }
    /// What each part of the order "best" gave.
    BestExplanation {
        /// The words.
        r#match: f64,
        /// The entries beside it.
        neighbours: f64,
        /// That it may answer the question.
        answer: f64,
        /// That words stand close.
        stretch: f64,
        /// Who said it.
        role: f64,
        /// A day that was asked for.
        date: f64,
        /// Its relevance.
        relevance: f64,
    }
    /// How a query was answered.
    PageExplanation {
        /// The order.
        sort_by: String,
        /// How entries were looked for, in one session.
        strategy: Option<String>,
        /// How many were looked at, in one session.
        rows_walked_at_most: Option<u64>,
        /// With text, in one session: its terms.
        terms: Vec<TermOfQuery>,
        /// Across sessions: how many were to be asked.
        sessions: Option<u64>,
    }
    /// How rare a term is.
    TermOfQuery {
        /// The term.
        term: String,
        /// How many entries have it.
        entries: u64,
        /// What that makes of it.
        idf: f64,
    }
}
