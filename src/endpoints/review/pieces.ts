import type { DialectName, Json } from '../../dialects/dialect.js';
import { mapRequestTexts, type Role } from '../../dialects/request-texts.js';

/** One text of a request, and where it stands: `messages.3.content.0.text`. */
export interface Piece {
  readonly text: string;
  readonly role: Role;
  readonly at: string;
  /** It is read, but cannot be changed: keys and names. */
  readonly isFixed: boolean;
}

export const piecesOf = (dialect: DialectName, body: Json): readonly Piece[] => {
  const pieces: Piece[] = [];
  mapRequestTexts(dialect, body, (text, role, at, isFixed = false) => {
    pieces.push({ text, role, at, isFixed });
    return text;
  });
  return pieces;
};
