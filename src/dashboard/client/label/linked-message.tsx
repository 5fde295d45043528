import { Fragment } from 'preact';
import { formatRoute } from '../shell/route.ts';

const pageName = 'Label page';

/** The message of a run; the name of the Label page is a link to it. */
export function LinkedMessage({ message }: { message: string }) {
  return (
    <>
      {message.split(pageName).map((text, i) => (
        <Fragment key={i}>
          {i > 0 && <a href={formatRoute({ page: 'label' })}>{pageName}</a>}
          {text}
        </Fragment>
      ))}
    </>
  );
}
